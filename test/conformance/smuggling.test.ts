import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { sendRaw } from '../support/raw-http.ts';
import { smugglingTricks } from '../support/smuggling.ts';

const NAMES = smugglingTricks({ host: 'fieldlake.test', key: '' }).map(({ name }) => name);

let site: BuiltSite;
beforeAll(async () => {
  site = await startBuiltSite();
});
afterAll(() => site.stop());

const trickOf = (name: string) =>
  smugglingTricks({ host: new URL(site.server.baseUrl).host, key: site.cast.owner.apiKey }).find((each) => each.name === name)!;

test('the corpus is of a size', () => {
  expect(new Set(NAMES).size).toBe(NAMES.length);
  expect(NAMES.length).toBeGreaterThanOrEqual(80);
});

test.each(NAMES)('%s', async (name) => {
  const { honest, raw, answer } = trickOf(name);
  const good = await sendRaw(site.server.baseUrl, honest, { lingerMs: 50 });
  expect(good.answers.map(({ status }) => status)).toEqual([200]);

  const tried = await sendRaw(site.server.baseUrl, raw, { lingerMs: 200 });
  const said = JSON.stringify({
    statuses: tried.answers.map(({ status }) => status),
    rest: tried.rest.toString('latin1'),
    closed: tried.closed,
  });
  expect(tried.answers, said).toHaveLength(1);
  expect(tried.rest.length, said).toBe(0);
  expect(tried.answers[0]!.body.toString(), said).not.toContain('utcTimestampMs');
  const { status, headers } = tried.answers[0]!;
  if (answer === 'either' && status < 400) expect([200, 204], said).toContain(status);
  else {
    expect(status, said).toBeGreaterThanOrEqual(400);
    expect(status, said).toBeLessThan(500);
    expect(headers['content-type'], said).toMatch(/^application\/problem\+json/);
  }

  const innocent = await sendRaw(site.server.baseUrl, `GET /health/live HTTP/1.1\r\nHost: ${new URL(site.server.baseUrl).host}\r\n\r\n`);
  expect(innocent.answers.map(({ status: after, body }) => `${after} ${body.toString()}`)).toEqual(['200 {"status":"ok"}']);
  expect(site.server.child.exitCode).toBeNull();
});
