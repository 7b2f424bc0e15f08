import { createHash, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { openFolderStore, type FolderStore } from '../../src/storage/folder.ts';
import { objectKey, type ObjectStore } from '../../src/storage/objects.ts';
import { openS3Store } from '../../src/storage/s3.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-storage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part as string);
}
async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('the sender went away');
}
const text = async (body: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const keys = async (store: ObjectStore, prefix: string) => {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key);
  return found.sort();
};

interface Opened {
  store: ObjectStore;
  close(): Promise<void>;
}

/** The folder store with the few lines of HTTP that a service puts before it. */
async function openFolder(): Promise<Opened> {
  const opened: { store?: FolderStore } = {};
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://local');
    const answer = async () => {
      const key = url.pathname.slice('/objects/'.length);
      const grant = opened.store!.verify(request.method ?? '', key, url.searchParams);
      if (grant.method === 'PUT') await opened.store!.redeem(grant, request);
      response.end(grant.method === 'GET' ? await text(await opened.store!.get(key)) : '');
    };
    answer().catch((error: unknown) => {
      response.statusCode = error instanceof ApiError ? error.status : 500;
      response.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const store = await openFolderStore({
    folder: join(folder, 'objects'),
    secret: Buffer.alloc(32, 1),
    baseUrl: () => `http://127.0.0.1:${port}/objects`,
  });
  opened.store = store;
  return { store, close: async () => void server.close() };
}

async function openS3(): Promise<Opened> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'lake', configs: [] }],
  });
  const { port } = await server.run();
  const store = openS3Store({
    bucket: 'lake',
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  return {
    store,
    close: async () => {
      await store.close();
      await server.close();
    },
  };
}

describe.each([
  ['folder', openFolder],
  ['s3', openS3],
])('%s', (_, open) => {
  let opened: Opened;
  let store: ObjectStore;
  beforeAll(async () => {
    opened = await open();
    ({ store } = opened);
  });
  afterAll(() => opened.close());
  const key = () => objectKey('uploads', randomUUID(), '0');

  test('bytes come back as they were, whole and in ranges, with their hash and length', async () => {
    const at = key();
    expect(await store.put(at, pieces('hello ', 'world'))).toEqual({ byteCount: 11, sha256: sha256('hello world') });
    expect(await text(await store.get(at))).toBe('hello world');
    expect(await text(await store.get(at, { start: 6 }))).toBe('world');
    expect(await text(await store.get(at, { start: 2, end: 4 }))).toBe('llo');
    expect(await store.head(at)).toMatchObject({ key: at, byteCount: 11 });
    expect(await store.delete(at)).toBe(true);
    expect(await store.delete(at)).toBe(false);
    expect(await store.head(at)).toBeUndefined();
    await expect(store.get(at)).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
  });

  test('an empty object and one of several parts', async () => {
    const [empty, large] = [key(), key()];
    expect(await store.put(empty, pieces())).toMatchObject({ byteCount: 0 });
    expect(await text(await store.get(empty))).toBe('');
    const block = Buffer.alloc(3 * 1_048_576, 'x');
    expect(await store.put(large, pieces(block, block, block, block))).toMatchObject({ byteCount: 12 * 1_048_576 });
    expect(await store.head(large)).toMatchObject({ byteCount: 12 * 1_048_576 });
  });

  test.each([
    ['a limit', { maxBytes: 4 }, 'PAYLOAD_TOO_LARGE'],
    ['a shorter length', { contentLength: 4 }, 'OBJECT_MISMATCH'],
    ['a longer length', { contentLength: 6 }, 'OBJECT_MISMATCH'],
    ['another hash', { sha256: sha256('other') }, 'OBJECT_MISMATCH'],
  ])('%s is enforced and nothing is left', async (_name, options, code) => {
    const at = key();
    await expect(store.put(at, pieces('he', 'llo'), options)).rejects.toMatchObject({ code });
    expect(await store.head(at)).toBeUndefined();
    await store.put(at, pieces('he', 'llo'), { maxBytes: 5, contentLength: 5, sha256: sha256('hello') });
    expect(await store.head(at)).toMatchObject({ byteCount: 5 });
  });

  test('a body that breaks off or is cancelled leaves nothing', async () => {
    const at = key();
    await expect(store.put(at, failing())).rejects.toThrow('the sender went away');
    await expect(store.put(at, pieces('x'), { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(await keys(store, at)).toEqual([]);
  });

  test('a key is written once', async () => {
    const at = key();
    await store.put(at, pieces('first'));
    await expect(store.put(at, pieces('second'))).rejects.toMatchObject({ code: 'OBJECT_EXISTS' });
    expect(await text(await store.get(at))).toBe('first');
  });

  test('keys that could leave their folder are refused', async () => {
    for (const bad of ['../x', 'a/../x', '/etc/x', 'a//b', '.temporary/x', 'a/.b', 'a\\b', 'a b', 'a\0', ''] as const) {
      await expect(store.put(bad, pieces('x'))).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
      await expect(store.get(bad)).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
      expect(await store.head(bad)).toBeUndefined();
      expect(await store.delete(bad)).toBe(false);
    }
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });

  test('a prefix lists what starts with it', async () => {
    const root = randomUUID();
    for (const name of ['a', 'ab', 'b']) await store.put(objectKey(root, name, '0'), pieces(name));
    expect(await keys(store, `${root}/a`)).toEqual([`${root}/a/0`, `${root}/ab/0`]);
    expect(await keys(store, `${root}/`)).toHaveLength(3);
    expect(await keys(store, `${root}/../`)).toEqual([]);
  });

  test('a signed URL writes and another reads, until they expire', async () => {
    const at = key();
    const put = await store.signPut(at, { expiresInSeconds: 60, contentLength: 5, contentType: 'text/plain', sha256: sha256('hello') });
    const sent = await fetch(put.url, { method: 'PUT', headers: put.headers, body: 'hello' });
    expect(sent.status).toBe(200);
    const get = await store.signGet(at, { expiresInSeconds: 60 });
    expect(await (await fetch(get.url)).text()).toBe('hello');
    // s3rver does not check the signature of a presigned GET; S3 and the other compatible servers do.
    if (store.kind === 's3') return;
    const tampered = get.url.replace(/ignature=(..)/, (_all, two: string) => `ignature=${two === 'aa' ? 'bb' : 'aa'}`);
    expect((await fetch(tampered)).status).toBe(403);
  });
});

describe('what only the folder store can promise', () => {
  let now = Date.now();
  let store: FolderStore;
  beforeAll(async () => {
    store = await openFolderStore({
      folder: join(folder, 'own'),
      secret: Buffer.alloc(32, 2),
      baseUrl: () => 'http://x/objects',
      now: () => now,
    });
  });
  const grantOf = async (at: string, options: { contentLength?: number; sha256?: string } = {}) => {
    const { url } = await store.signPut(at, { expiresInSeconds: 60, ...options });
    return new URL(url).searchParams;
  };

  test('a PUT URL works once, also for ten at the same time; a failed body may be sent again', async () => {
    const at = objectKey('once', randomUUID());
    const query = await grantOf(at, { contentLength: 5 });
    await expect(store.redeem(store.verify('PUT', at, query), pieces('too long'))).rejects.toMatchObject({ code: 'OBJECT_MISMATCH' });
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => store.redeem(store.verify('PUT', at, query), pieces('hello'))));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await store.delete(at);
    await expect(store.redeem(store.verify('PUT', at, query), pieces('hello'))).rejects.toMatchObject({ code: 'OBJECT_URL_INVALID' });
  });

  test('nothing signed can be changed, and nothing works after its time', async () => {
    const at = objectKey('signed', randomUUID());
    const query = await grantOf(at, { contentLength: 5, sha256: sha256('hello') });
    expect(store.verify('PUT', at, query)).toMatchObject({ key: at, contentLength: 5 });
    for (const [name, value] of [
      ['expires', String(now + 9e9)],
      ['length', '9'],
      ['sha256', sha256('x')],
      ['once', randomUUID()],
      ['type', 'a/b'],
      ['method', 'GET'],
    ] as const) {
      const changed = new URLSearchParams(query);
      changed.set(name, value);
      expect(() => store.verify(name === 'method' ? 'GET' : 'PUT', at, changed), name).toThrow(ApiError);
    }
    expect(() => store.verify('GET', at, query)).toThrow(ApiError);
    expect(() => store.verify('PUT', objectKey('signed', 'other'), query)).toThrow(ApiError);
    now += 61_000;
    expect(() => store.verify('PUT', at, query)).toThrow(ApiError);
  });

  test('what a crash left and marks of expired URLs are swept', async () => {
    const at = objectKey('swept', randomUUID());
    await store.redeem(store.verify('PUT', at, await grantOf(at)), pieces('x'));
    expect(readdirSync(join(folder, 'own', '.used')).length).toBeGreaterThan(0);
    now += 2 * 3_600_000;
    await store.sweep();
    expect(readdirSync(join(folder, 'own', '.used'))).toEqual([]);
    expect(await store.head(at)).toBeDefined();
  });
});
