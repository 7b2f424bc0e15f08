import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { Browser } from '../support/browser.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PAIRS = 1_000;
const PLACES = 10_000;

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '20', TRUST_PROXY_HOPS: '1', WORKER: 'off' });
});
afterAll(() => site.stop());

const SEND = '/api/v1/auth/email-otp/send-verification-otp';
const ENTER = '/api/v1/auth/sign-in/email-otp';
const place = (index: number) => ({ 'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}` });
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function took(work: () => Promise<{ status: number }>, expected: number): Promise<number> {
  const start = performance.now();
  const { status } = await work();
  expect(status).toBe(expected);
  return performance.now() - start;
}

describe('sign-in by code', () => {
  test('answers a known and an unknown address in the same time', async () => {
    const { db } = site.database;
    await db.run(sql('t')`
      insert into users (id, email, email_verified) select gen_random_uuid(), 'known' || n || '@example.com', true from generate_series(0, ${PAIRS + 50}) n`);
    const browser = new Browser(site.server.baseUrl);
    const times = { send: { known: [] as number[], unknown: [] as number[] }, enter: { known: [] as number[], unknown: [] as number[] } };
    const once = async (kind: 'known' | 'unknown', index: number, measured: boolean) => {
      const email = `${kind}${index}@example.com`;
      const headers = place(index * 2 + (kind === 'known' ? 0 : 1));
      const send = await took(() => browser.call('POST', SEND, { email, type: 'sign-in' }, headers), 200);
      const enter = await took(() => browser.call('POST', ENTER, { email, otp: '0' }, headers), 400);
      if (!measured) return;
      times.send[kind].push(send);
      times.enter[kind].push(enter);
    };
    for (let index = 0; index < PAIRS + 50; index += 1) {
      const order = index % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
      for (const kind of order) await once(kind, index, index >= 50);
    }
    const medians = {
      send: { known: median(times.send.known), unknown: median(times.send.unknown) },
      enter: { known: median(times.enter.known), unknown: median(times.enter.unknown) },
    };
    process.stdout.write(`medians in ms: ${JSON.stringify(medians)}\n`);
    expect(Math.abs(medians.send.known - medians.send.unknown)).toBeLessThan(2);
    expect(Math.abs(medians.enter.known - medians.enter.unknown)).toBeLessThan(2);
  });

  test('gives ten thousand places with unlimited resends forty tries a day on one account, at the very most', async () => {
    const email = 'target@example.com';
    await site.database.db.run(sql('t')`insert into users (id, email, email_verified) values (gen_random_uuid(), ${email}, true)`);
    const browser = new Browser(site.server.baseUrl);
    let answered = 0;
    for (let index = 0; index < PLACES; index += 1) {
      const headers = place(100_000 + index);
      if (index % 3 === 0) await browser.call('POST', SEND, { email, type: 'sign-in' }, headers);
      const answer = await browser.call('POST', ENTER, { email, otp: '000000' }, headers);
      // a code that is spent or missing is not looked at: only a wrong try against a live code is a guess
      expect([400, 403, 429]).toContain(answer.status);
    }
    const row = await site.database.db.one<{ used: number }>(
      sql('t')`select max(used)::integer as used from budgets where kind = 'code-tries-day'`,
    );
    answered = row?.used ?? 0;
    process.stdout.write(`guesses that ten thousand places had: ${answered}\n`);
    expect(answered).toBeLessThanOrEqual(20);
    // two windows may touch within any 24 hours
    expect((2 * answered) / 1_000_000).toBeLessThan(1 / 1_000);
  });
});
