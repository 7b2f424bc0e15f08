import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { openFolderStore, type FolderStore } from '../../src/storage/folder.ts';
import { printObjectKey } from '../../src/storage/objects.ts';
import { openS3Store } from '../../src/storage/s3.ts';
import { pieces, sha256, storageContract, text, type Opened } from './storage.suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-storage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The folder store with the few lines of HTTP that a service puts before it. */
async function openFolder(): Promise<Opened> {
  const opened: { store?: FolderStore } = {};
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://local');
    const answer = async () => {
      const key = url.pathname.slice('/objects/'.length);
      await opened.store!.redeem(opened.store!.verify(key, url.searchParams), request);
      response.end();
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
    store: {
      ...store,
      // s3rver answers a PUT before its file is written to the end
      put: async (key, ...rest) => {
        const stored = await store.put(key, ...rest);
        await expect.poll(async () => (await store.head(key))?.byteCount).toBe(stored.byteCount);
        return stored;
      },
    },
    close: async () => {
      await store.close();
      await server.close();
    },
  };
}

storageContract('folder', openFolder);
// s3rver honours no conditions, and cuts what is replaced; S3 and the other compatible servers do
storageContract('s3', openS3, { isWhole: false });

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
    const at = printObjectKey('once', randomUUID());
    const query = await grantOf(at, { contentLength: 5 });
    await expect(store.redeem(store.verify(at, query), pieces('too long'))).rejects.toMatchObject({ code: 'OBJECT_MISMATCH' });
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => store.redeem(store.verify(at, query), pieces('hello'))));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await store.delete(at);
    await expect(store.redeem(store.verify(at, query), pieces('hello'))).rejects.toMatchObject({ code: 'OBJECT_URL_INVALID' });
  });

  test('nothing signed can be changed, and nothing works after its time', async () => {
    const at = printObjectKey('signed', randomUUID());
    const query = await grantOf(at, { contentLength: 5, sha256: sha256('hello') });
    expect(store.verify(at, query)).toMatchObject({ key: at, contentLength: 5 });
    for (const [name, value] of [
      ['expires', String(now + 9e9)],
      ['length', '9'],
      ['sha256', sha256('x')],
      ['once', randomUUID()],
      ['type', 'a/b'],
    ] as const) {
      const changed = new URLSearchParams(query);
      changed.set(name, value);
      expect(() => store.verify(at, changed), name).toThrow(ApiError);
    }
    expect(() => store.verify(printObjectKey('signed', 'other'), query)).toThrow(ApiError);
    now += 61_000;
    expect(() => store.verify(at, query)).toThrow(ApiError);
  });

  test('an object that is deleted while it is asked for is there or is not', async () => {
    const outcomes = new Set<string>();
    for (let n = 0; n < 200; n += 1) {
      const at = printObjectKey('gone', randomUUID());
      await store.put(at, pieces('hello'));
      const read = store.get(at).then(text);
      const [outcome] = await Promise.all([read.catch((error: { code: string }) => error.code), store.delete(at)]);
      outcomes.add(outcome);
    }
    expect([...outcomes].filter((outcome) => !['hello', 'OBJECT_NOT_FOUND'].includes(outcome))).toEqual([]);
  });

  test('what a crash left and marks of expired URLs are swept', async () => {
    const at = printObjectKey('swept', randomUUID());
    await store.redeem(store.verify(at, await grantOf(at)), pieces('x'));
    expect(readdirSync(join(folder, 'own', '.used')).length).toBeGreaterThan(0);
    now += 2 * 3_600_000;
    await store.sweep();
    expect(readdirSync(join(folder, 'own', '.used'))).toEqual([]);
    expect(await store.head(at)).toBeDefined();
  });
});
