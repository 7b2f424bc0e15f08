import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adoptObjects } from '../../src/api/messages/arrivals.service.ts';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';

let test$: TestServer;
let owner: Call;
let experimentId: string;
beforeAll(async () => {
  test$ = await startTestServer();
  owner = test$.as(test$.cast.owner);
  experimentId = await makeExperiment();
});
afterAll(() => test$.stop());

const URL_PATH = '/api/v1/iot/upload-url';
const AT = '2026-05-01T10:00:00Z';

async function makeExperiment(more: object = {}): Promise<string> {
  const { status, body } = await owner('POST', '/api/v1/experiments', {
    body: { name: 'Messages', organizationId: test$.cast.leafLab, ...more },
  });
  expect(status).toBe(201);
  return body.id;
}

const put = async (url: string, body: string | Buffer, headers: Record<string, string> = {}, method = 'PUT'): Promise<Answer> => {
  const answer = await fetch(url, {
    method,
    headers,
    ...(method === 'PUT' || method === 'POST' ? { body: new Blob([body as string]) } : {}),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const text = bytes.toString('utf8');
  return { status: answer.status, headers: answer.headers, text, bytes, body: text === '' ? undefined : JSON.parse(text) };
};

async function urlFor(facts: object = {}, id = experimentId) {
  const { status, body } = await owner('POST', URL_PATH, { body: { experimentId: id, ...facts } });
  expect(status).toBe(201);
  return body as { uploadUrl: string; key: string; expiresAt: string; headers: Record<string, string> };
}

interface Inbox {
  status: string;
  stored: number;
  quarantined: number;
  there: number;
  reasons: Record<string, number>;
}
const inbox = (id: string) =>
  test$.db.rows<Inbox>(
    sql(
      'test',
    )`select status, stored, quarantined, already_there as there, reasons from messages where experiment_id = ${id} order by ordinal`,
  );
async function handled(id: string): Promise<Inbox[]> {
  for (let tries = 0; tries < 200; tries += 1) {
    const rows = await inbox(id);
    if (rows.length > 0 && rows.every(({ status }) => status !== 'pending')) return rows;
    await sleep(50);
  }
  throw new Error('the messages were not handled');
}
async function rowsOf(id: string, tableName = 'raw_data'): Promise<Record<string, any>[]> {
  const { status, body } = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName } });
  expect(status).toBe(200);
  return body[0].data.rows;
}
async function objectsLeft(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of (await test$.context()).objects.list(prefix)) keys.push(key);
  return keys;
}

describe('POST /api/v1/iot/upload-url', () => {
  test('POST /api/v1/iot/upload-url', async () => {
    const before = Date.now();
    const { status, body } = await owner('POST', URL_PATH, { body: { experimentId } });
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual(['expiresAt', 'headers', 'key', 'uploadUrl']);
    expect(body.uploadUrl.startsWith(`${test$.server.baseUrl}/objects/${body.key}?`)).toBe(true);
    expect(body.key).toMatch(new RegExp(`^messages/${experimentId}/${test$.cast.owner.id}/[0-9a-f-]{36}$`));
    expect(Date.parse(body.expiresAt) - before).toBeGreaterThan(899_000);
    expect(Date.parse(body.expiresAt) - before).toBeLessThan(960_000);
    expect(body.headers).toEqual({});
    const bytes = JSON.stringify({ timestamp: AT });
    const facts = {
      contentLength: bytes.length,
      contentType: 'application/json',
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
    expect((await urlFor(facts)).headers).toEqual({ 'content-length': String(bytes.length), 'content-type': 'application/json' });
  });

  test('is for who may contribute to an experiment that is there and not archived', async () => {
    const { cast, db } = test$;
    expect((await test$.as(cast.member)('POST', URL_PATH, { body: { experimentId } })).status).toBe(201);
    expect((await test$.as(null)('POST', URL_PATH, { body: { experimentId } })).status).toBe(401);
    expect((await owner('POST', URL_PATH, { body: { experimentId: 'E1' } })).body.errors).toEqual([
      { path: '/experimentId', message: 'must be a UUID' },
    ]);
    expect((await test$.as(cast.stranger)('POST', URL_PATH, { body: { experimentId } })).status).toBe(403);
    await grant(db, { id: experimentId, type: 'experiment' }, { user: cast.viewer.id }, 'viewer');
    expect((await test$.as(cast.viewer)('POST', URL_PATH, { body: { experimentId } })).status).toBe(201);
    expect((await owner('POST', URL_PATH, { body: { experimentId: crypto.randomUUID() } })).status).toBe(404);
    const archived = await makeExperiment();
    expect((await owner('POST', URL_PATH, { body: { experimentId: archived } })).status).toBe(201);
    expect((await owner('PATCH', `/api/v1/experiments/${archived}`, { body: { status: 'archived' } })).status).toBe(200);
    expect(await owner('POST', URL_PATH, { body: { experimentId: archived } })).toMatchObject({
      status: 409,
      body: { code: 'EXPERIMENT_ARCHIVED' },
    });
  });

  test('refuses facts that nobody could keep', async () => {
    const good = { experimentId, contentLength: 5, contentType: 'application/json', sha256: 'a'.repeat(64) };
    expect((await owner('POST', URL_PATH, { body: good })).status).toBe(201);
    const wrong = [
      { experimentId: 'x' },
      { experimentId: undefined },
      { contentLength: 0 },
      { contentLength: 1.5 },
      { contentLength: 33_554_433 },
      { contentType: 'json\r\nx: y' },
      { sha256: 'abc' },
    ];
    for (const change of wrong)
      expect((await owner('POST', URL_PATH, { body: { ...good, ...change } })).status, JSON.stringify(change)).toBe(400);
  });
});

// most of each is waiting, and each has an experiment of its own
describe.concurrent('an object that is put', () => {
  test('is a row a moment later, whose contributor is the one who asked for the URL', async () => {
    const id = await makeExperiment();
    const message = {
      timestamp: AT,
      timezone: 'Europe/Amsterdam',
      device_id: 'd-1',
      sample: '{"phi2":0.7}',
      user_id: test$.cast.stranger.id,
    };
    const bytes = JSON.stringify(message);
    const { uploadUrl, headers } = await urlFor(
      { contentLength: bytes.length, contentType: 'application/json', sha256: createHash('sha256').update(bytes).digest('hex') },
      id,
    );
    expect((await put(uploadUrl, bytes, { 'content-type': headers['content-type']! })).status).toBe(200);
    expect(await handled(id)).toEqual([{ status: 'stored', stored: 1, quarantined: 0, there: 0, reasons: {} }]);
    const [row] = await rowsOf(id);
    expect(row).toMatchObject({
      device_id: 'd-1',
      timestamp: '2026-05-01T10:00:00.000Z',
      local_time: '12:00',
      data: { phi2: 0.7 },
      contributor: { id: test$.cast.owner.id, name: 'Owner Tester' },
    });
    expect(await rowsOf(id, 'device')).toMatchObject([{ device_id: 'd-1', total_measurements: 1 }]);
  });

  test('may be an array, NDJSON or gzip; what arrived reconciles with what is stored and set aside', async () => {
    const id = await makeExperiment();
    const many = [0, 1, 2].map((n) => ({ timestamp: AT, id: `m-${n}`, sample: { n } }));
    const bodies = [
      JSON.stringify(many),
      [...many.map((message) => JSON.stringify({ ...message, id: `l-${message.id}` })), '{"timestamp":'].join('\n'),
      gzipSync(JSON.stringify([...many, { sample: {} }])),
    ];
    for (const body of bodies) {
      const { uploadUrl } = await urlFor({}, id);
      expect((await put(uploadUrl, body)).status).toBe(200);
      await handled(id);
    }
    expect(await handled(id)).toEqual([
      { status: 'stored', stored: 3, quarantined: 0, there: 0, reasons: {} },
      { status: 'partial', stored: 3, quarantined: 1, there: 0, reasons: { 'json-invalid': 1 } },
      { status: 'partial', stored: 0, quarantined: 1, there: 3, reasons: { 'timestamp-missing': 1 } },
    ]);
    expect(await rowsOf(id)).toHaveLength(6);
  });

  test('ten times at once is there once, and leaves one object', async () => {
    const id = await makeExperiment();
    const bytes = JSON.stringify({ timestamp: AT, sample: { n: 1 } });
    const urls = await Promise.all(Array.from({ length: 10 }, () => urlFor({}, id)));
    expect((await Promise.all(urls.map(({ uploadUrl }) => put(uploadUrl, bytes)))).map(({ status }) => status)).toEqual(
      Array(10).fill(200),
    );
    await handled(id);
    expect(await rowsOf(id)).toHaveLength(1);
    expect(await objectsLeft(`messages/${id}/`)).toHaveLength(1);
  });

  test('that packs a bomb is set aside with its reason', async () => {
    const id = await makeExperiment();
    const bomb = gzipSync(Buffer.alloc(80_000_000, 0x20));
    const { uploadUrl } = await urlFor({}, id);
    expect((await put(uploadUrl, bomb)).status).toBe(200);
    expect(await handled(id)).toMatchObject([{ status: 'quarantined', reasons: { 'decompressed-too-large': 1 } }]);
  });

  test('while the experiment is archived waits until it is not', async () => {
    const id = await makeExperiment();
    const { uploadUrl } = await urlFor({}, id);
    expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).status).toBe(200);
    expect((await put(uploadUrl, JSON.stringify({ timestamp: AT }))).status).toBe(200);
    expect(await handled(id)).toMatchObject([{ status: 'quarantined', reasons: { archived: 1 } }]);
    expect(await rowsOf(id)).toHaveLength(0);
    expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } })).status).toBe(200);
    expect(await handled(id)).toMatchObject([{ status: 'stored', stored: 1, quarantined: 0, reasons: {} }]);
    expect(await rowsOf(id)).toHaveLength(1);
  });
});

describe('an object that is there', () => {
  test('and whose arrival was lost is taken in later', async () => {
    const id = await makeExperiment();
    const { key } = await urlFor({}, id);
    const { objects } = await test$.context();
    await objects.put(
      key,
      (async function* () {
        yield Buffer.from(JSON.stringify({ timestamp: AT }));
      })(),
    );
    expect(await inbox(id)).toEqual([]);
    expect(await adoptObjects(await test$.context(), new AbortController().signal, -1_000)).toBe(1);
    expect(await handled(id)).toMatchObject([{ status: 'stored', stored: 1 }]);
    expect(await adoptObjects(await test$.context(), new AbortController().signal, -1_000)).toBe(0);
  });

  test('and cannot be taken in holds back no other', async () => {
    const id = await makeExperiment();
    const { key } = await urlFor({}, id);
    const context = await test$.context();
    // before and behind it, objects whose experiment has no id
    const bad = ['0-nonsense', 'z-nonsense'].map((experiment) => key.replace(id, experiment));
    for (const each of [bad[0]!, key, bad[1]!])
      await context.objects.put(
        each,
        (async function* () {
          yield Buffer.from(JSON.stringify({ timestamp: AT, sample: { n: 'held' } }));
        })(),
      );
    try {
      expect(await adoptObjects(context, new AbortController().signal, -1_000)).toBe(1);
      expect(await handled(id)).toMatchObject([{ status: 'stored', stored: 1 }]);
      expect((await objectsLeft('messages/')).filter((each) => bad.includes(each)).sort()).toEqual(bad);
    } finally {
      for (const each of bad) await context.objects.delete(each);
    }
  });
});

describe.concurrent('a signed URL', () => {
  const bytes = JSON.stringify({ timestamp: AT, sample: { n: 'url' } });
  const facts = { contentLength: bytes.length, contentType: 'application/json', sha256: createHash('sha256').update(bytes).digest('hex') };
  const headers = { 'content-type': 'application/json' };

  test('works once', async () => {
    const { uploadUrl } = await urlFor(facts);
    expect((await put(uploadUrl, bytes, headers)).status).toBe(200);
    const again = await put(uploadUrl, bytes, headers);
    expect(again).toMatchObject({ status: 403, body: { code: 'OBJECT_URL_INVALID', status: 403 } });
    expect(again.headers.get('content-type')).toContain('application/problem+json');
  });

  test('takes what was announced and nothing else, and leaves nothing of what it refused', async () => {
    const refusals: [name: string, body: string, headers: Record<string, string>, status: number, code: string][] = [
      ['longer', `${bytes} `, headers, 400, 'OBJECT_MISMATCH'],
      ['shorter', bytes.slice(1), headers, 400, 'OBJECT_MISMATCH'],
      ['other bytes', bytes.replace('url', 'lru'), headers, 400, 'OBJECT_MISMATCH'],
      ['another type', bytes, { 'content-type': 'text/csv' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ];
    const ids: string[] = [];
    for (const [name, body, sent, status, code] of refusals) {
      const id = await makeExperiment();
      ids.push(id);
      const { uploadUrl } = await urlFor(facts, id);
      expect(await put(uploadUrl, body, sent), name).toMatchObject({ status, body: { code } });
      expect(await objectsLeft(`messages/${id}/`), name).toEqual([]);
      // the same URL takes the right bytes afterwards
      expect((await put(uploadUrl, bytes, headers)).status, name).toBe(200);
    }
    for (const id of ids) await handled(id);
  });

  test('is worth nothing once any part of it is changed, or for another method', async () => {
    const { uploadUrl } = await urlFor(facts);
    const other = await urlFor(facts);
    const forged = [
      uploadUrl.replace(/signature=(.)/, (_, first) => `signature=${first === 'A' ? 'B' : 'A'}`),
      uploadUrl.replace(/expires=\d/, 'expires=9'),
      uploadUrl.replace(/length=\d+/, 'length=999'),
      uploadUrl.replace(/&sha256=[0-9a-f]+/, ''),
      uploadUrl.replace('messages/', 'uploads/'),
      uploadUrl.replace(/\?.*/, ''),
      uploadUrl.replace(/once=[^&]+/, `once=${/once=([^&]+)/.exec(other.uploadUrl)![1]}`),
      uploadUrl.replace('/messages/', '/../messages/'),
    ];
    for (const url of forged) expect([403, 404], url).toContain((await put(url, bytes, headers)).status);
    expect((await put(uploadUrl, bytes, headers, 'GET')).status).toBe(405);
    const post = await put(uploadUrl, bytes, headers, 'POST');
    expect(post).toMatchObject({ status: 405 });
    expect(post.headers.get('allow')).toBe('OPTIONS, PUT');
    expect((await put(uploadUrl, bytes, headers)).status).toBe(200);
  });

  test('that has expired is refused', async () => {
    const { objects } = await test$.context();
    const key = `messages/${experimentId}/${test$.cast.owner.id}/${crypto.randomUUID()}`;
    const sign = async (expiresInSeconds: number) => (await objects.signPut(key, { expiresInSeconds })).url;
    expect((await put(await sign(-1), bytes)).status).toBe(403);
    expect((await put(await sign(60), bytes)).status).toBe(200);
  });

  test('takes at most 32 MiB when no length was announced', async () => {
    const { uploadUrl, key } = await urlFor();
    const answer = await put(uploadUrl, Buffer.alloc(33_554_433, 0x20));
    expect(answer).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    expect(await objectsLeft(key)).toEqual([]);
    expect((await put(uploadUrl, bytes)).status).toBe(200);
  });
});
