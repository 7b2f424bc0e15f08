import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { random } from '../support/fire.ts';
import { getRoutes, type GetRoute } from '../support/get-routes.ts';
import { startNginx } from '../support/nginx.ts';
import { sendRaw, type RawAnswer } from '../support/raw-http.ts';

/** Ways to ask for a GET route that are not ours. `nginx` stands in front with its default `proxy_pass`, which is HTTP/1.0 without kept connections. */
const WAYS = ['HEAD', 'HTTP/1.0 GET', 'HTTP/1.0 HEAD', 'nginx GET', 'nginx HEAD', 'OPTIONS'] as const;
type Way = (typeof WAYS)[number];

const MIXED = process.env['SOAK'] === undefined ? 1_000 : 10_000;
const AT_ONCE = 4;

let site: BuiltSite;
let routes: GetRoute[];
let stopNginx: () => void;
let nginxUrl: string;
/** What a plain GET over HTTP/1.1 answers, by path and format. */
const plain = new Map<string, RawAnswer>();

const keyOf = ({ path, accept }: GetRoute) => `${accept} ${path}`;

function asked(way: Way | 'GET', { path, accept }: GetRoute): string {
  const method = way.includes('HEAD') ? 'HEAD' : way === 'OPTIONS' ? 'OPTIONS' : 'GET';
  const version = way.startsWith('HTTP/1.0') ? '1.0' : '1.1';
  const close = way.startsWith('HTTP/1.0') || way === 'HEAD' ? '' : 'Connection: close\r\n';
  return `${method} ${path} HTTP/${version}\r\nHost: fieldlake.test\r\nAccept: ${accept}\r\nCookie: ${site.cookie}\r\n${close}\r\n`;
}

/** Asked behind a HEAD on the same connection: a body of the HEAD would stand where its answer should. */
const INNOCENT = 'GET /health/live HTTP/1.1\r\nHost: fieldlake.test\r\nConnection: close\r\n\r\n';

async function ask(way: Way | 'GET', route: GetRoute): Promise<RawAnswer> {
  const method = way.includes('HEAD') ? 'HEAD' : way === 'OPTIONS' ? 'OPTIONS' : 'GET';
  const url = way.startsWith('nginx') ? nginxUrl : site.server.baseUrl;
  const isKept = way === 'HEAD';
  const { answers, rest, closed } = await sendRaw(url, asked(way, route) + (isKept ? INNOCENT : ''), {
    methods: isKept ? ['HEAD', 'GET'] : [method],
    lingerMs: 10_000,
    quietMs: 30_000,
  });
  const name = `${way} ${route.accept} ${route.path}`;
  expect(rest.toString('latin1', 0, 200), `${name}: behind the answer`).toBe('');
  expect(answers, name).toHaveLength(isKept ? 2 : 1);
  if (isKept) expect(answers[1]!.body.toString(), name).toBe('{"status":"ok"}');
  expect(closed, `${name}: the connection stays open`).toBe(true);
  return answers[0]!;
}

/** Asks in a way and compares with what the plain GET was answered. */
async function check(way: Way, route: GetRoute): Promise<void> {
  const name = `${way} ${route.accept} ${route.path}`;
  const expected = plain.get(keyOf(route))!;
  const answer = await ask(way, route);
  if (way === 'OPTIONS') {
    expect([200, 204], name).toContain(answer.status);
    expect(answer.headers['allow']?.split(', '), name).toEqual(expect.arrayContaining(['GET', 'HEAD', 'OPTIONS']));
    return;
  }
  // ceremonies of passkeys are counted by address, and every client here has the same
  if (answer.status === 429 && route.path.startsWith('/api/v1/auth/passkey/')) {
    expect(Number(answer.headers['retry-after']), name).toBeGreaterThan(0);
    return;
  }
  expect(answer.status, name).toBe(expected.status);
  expect(answer.headers['content-type'], name).toBe(expected.headers['content-type']);
  if (way.endsWith('HEAD')) {
    expect(answer.body.length, name).toBe(0);
    return;
  }
  expect(answer.headers['trailer'], name).toBeUndefined();
  // the clock, ids of requests and what is made of chance differ
  if (expected.status === 200 && /\/data\?/.test(route.path) && !route.accept.includes('parquet'))
    expect(answer.body.equals(expected.body), `${name}: another body`).toBe(true);
  // nginx itself speaks HTTP/1.1 to its callers
  if (way.startsWith('HTTP/1.0')) expect(['length', 'close', 'none'], name).toContain(answer.framing);
}

beforeAll(async () => {
  site = await startBuiltSite();
  routes = await getRoutes(site);
  const port = await findFreePort();
  nginxUrl = `http://127.0.0.1:${port}`;
  stopNginx = await startNginx(port, site.server.baseUrl);
});
afterAll(async () => {
  stopNginx();
  await site.stop();
});

test('a plain GET of every route and format has an answer, of most a good one', async () => {
  const statuses = new Map<number, string[]>();
  const failed: string[] = [];
  for (const route of routes) {
    const answer = await ask('GET', route);
    plain.set(keyOf(route), answer);
    statuses.set(answer.status, [...(statuses.get(answer.status) ?? []), keyOf(route)]);
    if (answer.status >= 500) failed.push(`${keyOf(route)} ${answer.body.toString('utf8', 0, 300)}`);
    if (route.template.endsWith('/{id}/data')) {
      expect(answer.status, answer.body.toString('utf8', 0, 300)).toBe(200);
      const { etag, 'x-table-version': version } = answer.headers;
      const trailers = { etag, 'x-table-version': version, 'x-truncated': 'false' };
      if (route.accept !== 'application/json') expect(answer.trailers).toEqual(trailers);
    }
  }
  console.log(`${routes.length} routes and formats: ${[...statuses].map(([status, { length }]) => `${length} of ${status}`).join(', ')}`);
  expect(failed).toEqual([]);
  expect(statuses.get(200)?.length ?? 0, JSON.stringify(Object.fromEntries(statuses), null, 1)).toBeGreaterThan(90);
});

test.each(WAYS)('%s of every route and format is what GET is, ends, and ends nothing else', async (way) => {
  for (const route of routes) await check(way, route);
  expect(site.server.child.exitCode).toBeNull();
});

test('what was read through a proxy that compresses can be changed, and is known again', async () => {
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
    const answer = await fetch(nginxUrl + path, {
      method,
      headers: { 'x-api-key': site.cast.owner.apiKey, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const made = await ask('POST', '/api/v1/experiments', {}, { name: 'Compressed' });
  const path = `/api/v1/experiments/${(JSON.parse(made.text) as { id: string }).id}`;
  const read = await ask('GET', path, { 'accept-encoding': 'gzip' });
  expect(read.headers.get('content-encoding')).toBe('gzip');
  const tag = read.headers.get('etag')!;
  expect(tag).toMatch(/^W\//);
  expect((await ask('GET', path, { 'if-none-match': tag })).status).toBe(304);
  expect((await ask('PATCH', path, { 'if-match': tag }, { name: 'Compressed once' })).status).toBe(200);
  expect((await ask('PATCH', path, { 'if-match': tag }, { name: 'Compressed twice' })).status).toBe(412);
  expect((await ask('GET', path, { 'if-none-match': tag })).status).toBe(200);
});

test('what is refused before its body is read is answered through nginx', async () => {
  const statuses: number[] = [];
  for (let tries = 0; tries < 20; tries += 1) {
    const answer = await fetch(`${nginxUrl}/api/v1/experiments`, { method: 'POST', body: Buffer.alloc(4_000_000) });
    await answer.bytes();
    statuses.push(answer.status);
  }
  expect(new Set(statuses)).toEqual(new Set([401]));
});

test(`${MIXED} mixed requests later the process is the same`, { timeout: 1_800_000 }, async () => {
  const roll = random(22);
  const one = <T>(list: readonly T[]): T => list[Math.floor(roll() * list.length)]!;
  const { pid } = site.server.child;
  let sent = 0;
  const work = async () => {
    while (sent < MIXED) {
      sent += 1;
      await check(one(WAYS), one(routes));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(sent).toBe(MIXED);
  expect(site.server.child.exitCode).toBeNull();
  expect(site.server.child.pid).toBe(pid);
  expect((await fetch(`${site.server.baseUrl}/health/ready`)).status).toBe(200);
  expect(site.server.output()).not.toContain('something failed outside every request');
});
