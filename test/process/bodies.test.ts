import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/crashes.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { rawSocket, sendRaw, type RawExchange } from '../support/raw-http.ts';

const STALL_MS = 2_000;
const WHOLE_MS = 4_000;

let site: BuiltSite;
let experiment: string;
beforeAll(async () => {
  site = await startBuiltSite({ BODY_STALL_SECONDS: String(STALL_MS / 1000), BODY_SECONDS: String(WHOLE_MS / 1000) });
  const body = { name: 'Bodies', organizationId: site.cast.leafLab };
  experiment = (await site.owner('POST', '/api/v1/experiments', { body })).body.id;
});
afterAll(() => site.stop());

const PEOPLE = '/api/v1/users/metadata';
const JSON_BODY = '{"userIds":["nobody"]}';

/** The request of a POST, whose head says what its body does not have to keep. */
function post(path: string, body: Buffer | string, headers: Record<string, string> = {}, key: string | null = site.cast.owner.apiKey) {
  const bytes = Buffer.from(body);
  const all = {
    host: 'fieldlake.test',
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    ...(key === null ? {} : { 'x-api-key': key }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return { head: `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, bytes };
}

const statusesOf = ({ answers }: RawExchange) => answers.map(({ status }) => status);
const codeOf = ({ answers }: RawExchange) => (JSON.parse(answers[0]?.body.toString() ?? '{}') as { code?: string }).code;

async function sent(
  body: Buffer | string,
  headers: Record<string, string> = {},
  path = PEOPLE,
  key: string | null = site.cast.owner.apiKey,
) {
  const { head, bytes } = post(path, body, headers, key);
  return sendRaw(site.server.baseUrl, [head, bytes]);
}

const ENCODINGS: [string, (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];

test.concurrent.each(ENCODINGS)(
  'a body in %s is read; garbage, a cut one and a bomb are refused in one log line without a stack',
  async (name, encode) => {
    const encoding = { 'content-encoding': name };
    const good = encode(JSON_BODY);
    expect(statusesOf(await sent(good, encoding))).toEqual([200]);

    const log = () => site.server.output().split('\n');
    const before = log().length;
    const ids = ['garbage', 'cut', 'bomb'].map((kind) => `${name}-${kind}`);
    const bodies = [
      Buffer.from('garbage, garbage, garbage'),
      good.subarray(0, good.length - 6),
      encode(JSON.stringify({ userIds: 'x'.repeat(11_000_000) })),
    ];
    const refused = await Promise.all(bodies.map((body, index) => sent(body, { ...encoding, 'x-request-id': ids[index]! })));
    expect(refused.map((each) => `${statusesOf(each).join(' ')} ${codeOf(each)}`)).toEqual([
      '400 UNDECODABLE_BODY',
      '400 UNDECODABLE_BODY',
      '413 PAYLOAD_TOO_LARGE',
    ]);
    expect(bodies[2]!.length).toBeLessThan(100_000);
    const about = () =>
      log()
        .slice(before - 1)
        .filter((line) => ids.some((id) => line.includes(`"${id}"`)));
    await eventually(
      async () => about().length,
      (count) => count >= 3,
      5_000,
    );
    await sleep(300);
    const lines = about();
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).not.toContain('stack');
  },
);

test('garbage of somebody who is not signed in is 401 where a caller is needed, and 400 where none is', async () => {
  const gzip = { 'content-encoding': 'gzip' };
  expect(codeOf(await sent('garbage', gzip, PEOPLE, null))).toBe('UNAUTHORIZED');
  const path = '/api/v1/auth/email-otp/send-verification-otp';
  const asked = JSON.stringify({ email: 'someone@example.com', type: 'sign-in' });
  expect(statusesOf(await sent(gzipSync(asked), gzip, path, null))).toEqual([200]);
  expect(statusesOf(await sent('garbage', gzip, path, null))).toEqual([400]);
});

test('an encoding that nobody here knows is 415, in a form too', async () => {
  expect(codeOf(await sent(JSON_BODY, { 'content-encoding': 'identity' }))).toBeUndefined();
  expect(codeOf(await sent(JSON_BODY, { 'content-encoding': 'compress' }))).toBe('UNSUPPORTED_ENCODING');
  expect(codeOf(await sent(gzipSync(gzipSync(JSON_BODY)), { 'content-encoding': 'gzip, gzip' }))).toBe('UNSUPPORTED_ENCODING');
  const form = { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' };
  const upload = await sent(gzipSync('--b--\r\n'), form, `/api/v1/experiments/${experiment}/data/uploads`);
  expect(codeOf(upload)).toBe('UNSUPPORTED_ENCODING');
});

/** How many milliseconds a promise takes, with what it gives. */
async function timed<T>(work: Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const start = performance.now();
  const result = await work;
  return { result, milliseconds: performance.now() - start };
}

// those that follow only wait
test.concurrent('a body that stops is 408 after the stall time, and its connection ends', async () => {
  const { head, bytes } = post(PEOPLE, JSON_BODY);
  const slow = await sendRaw(site.server.baseUrl, [head, bytes.subarray(0, 5), bytes.subarray(5)], { pauseMs: STALL_MS / 4 });
  expect(statusesOf(slow)).toEqual([200]);

  const stopped = ['', '{"us'].map((begun) => timed(sendRaw(site.server.baseUrl, head + begun, { lingerMs: 1_000 })));
  for (const { result, milliseconds } of await Promise.all(stopped)) {
    expect(statusesOf(result)).toEqual([408]);
    expect(result.answers[0]!.headers).toMatchObject({ connection: 'close', 'content-type': expect.stringContaining('problem+json') });
    expect(codeOf(result)).toBe('REQUEST_TOO_SLOW');
    expect(result.closed).toBe(true);
    expect(milliseconds).toBeGreaterThan(STALL_MS * 0.7);
    expect(milliseconds).toBeLessThan(STALL_MS + 8_000);
  }
});

test.concurrent('a body of a refused caller is not waited for without end either', async () => {
  const { head } = post(PEOPLE, JSON_BODY, {}, null);
  const { result, milliseconds } = await timed(sendRaw(site.server.baseUrl, head, { lingerMs: 60_000 }));
  expect(statusesOf(result)).toEqual([401]);
  expect(result.closed).toBe(true);
  expect(milliseconds).toBeLessThan(STALL_MS + 8_000);
});

const PIECES = 12;
const PAUSE_MS = WHOLE_MS / 8;

test.concurrent('a body of JSON that moves has a time for all of it', async () => {
  const piece = ' '.repeat(2_000);
  const { head } = post(PEOPLE, JSON_BODY, { 'content-length': String(JSON_BODY.length + PIECES * piece.length) });
  const late = await sendRaw(site.server.baseUrl, [head, ...Array.from({ length: PIECES }, () => piece), JSON_BODY], {
    pauseMs: PAUSE_MS,
    lingerMs: 500,
  });
  expect(statusesOf(late)).toEqual([408]);
});

test.concurrent('an upload that moves has no time for all of it, and one that drips is 408', async () => {
  const field = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const begin = `${field('sourceKind', 'csv')}${field('targetKind', 'new')}${field('targetName', 'slow')}--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\na,b\n`;
  const rows = '1,2\n'.repeat(500);
  const end = '\r\n--b--\r\n';
  const form = post(`/api/v1/experiments/${experiment}/data/uploads`, '', {
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': String(begin.length + PIECES * rows.length + end.length),
  });
  const dripping = Array.from({ length: 40 }, () => '1');
  const [{ result, milliseconds }, drip] = await Promise.all([
    timed(sendRaw(site.server.baseUrl, [form.head, begin, ...Array.from({ length: PIECES }, () => rows), end], { pauseMs: PAUSE_MS })),
    sendRaw(site.server.baseUrl, [form.head, begin.replace('slow', 'drip'), ...dripping], { pauseMs: STALL_MS / 8, lingerMs: 500 }),
  ]);
  expect(statusesOf(result)).toEqual([201]);
  expect(milliseconds).toBeGreaterThan(WHOLE_MS * 1.5);
  expect(statusesOf(drip)).toEqual([408]);
});

/** Sends a POST and all of its body without listening first; answers what came back, and whether everything could be sent. */
async function pushed(version: '1.0' | '1.1', bytes: number, behind = ''): Promise<{ text: string; isWhole: boolean }> {
  const head = `POST ${PEOPLE} HTTP/${version}\r\nHost: fieldlake.test\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`;
  const socket = await rawSocket(site.server.baseUrl);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const failed = once(socket, 'error').then(() => false);
  const isWhole = await Promise.race([
    failed,
    new Promise<true>((resolve) => socket.end(head + ' '.repeat(bytes) + behind, () => resolve(true))),
  ]);
  if (!socket.readableEnded && isWhole) await Promise.race([failed, once(socket, 'end')]);
  return { text, isWhole };
}

test.concurrent.each(['1.0', '1.1'] as const)(
  'a caller who sends %s and is refused early can send its whole body, and is answered',
  async (version) => {
    const behind = `DELETE ${PEOPLE} HTTP/1.1\r\nHost: fieldlake.test\r\n\r\n`;
    const lines = () => site.server.output().split('"method":"DELETE"').length;
    const before = lines();
    for (let tries = 0; tries < 10; tries += 1) {
      const { text, isWhole } = await pushed(version, 20_000_000, behind);
      expect([isWhole, text.match(/HTTP\/1\.1 \d+/g)]).toEqual([true, ['HTTP/1.1 401']]);
    }
    expect(lines()).toBe(before);
  },
);

test.concurrent('a caller who is refused early and stays is let go', async () => {
  const socket = await rawSocket(site.server.baseUrl);
  const begun = performance.now();
  socket.on('error', () => undefined);
  socket.write(`POST ${PEOPLE} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`);
  socket.resume();
  await once(socket, 'end');
  expect(performance.now() - begun).toBeLessThan(1_500);
  // a byte now and then does not hold it either
  const dripping = setInterval(() => socket.write(' '), 500);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  expect(performance.now() - begun).toBeLessThan(WHOLE_MS + 5_000);
});

test('many connections that never finish a body are all let go', async () => {
  const { head } = post(PEOPLE, JSON_BODY, { 'content-length': '5000' });
  const { result, milliseconds } = await timed(Promise.all(Array.from({ length: 200 }, () => sendRaw(site.server.baseUrl, `${head}{"`))));
  expect(new Set(result.flatMap(statusesOf))).toEqual(new Set([408]));
  expect(milliseconds).toBeLessThan(STALL_MS + 10_000);
  expect((await fetch(`${site.server.baseUrl}/health/live`)).status).toBe(200);
});
