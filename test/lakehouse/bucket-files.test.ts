import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { errors } from '../../src/errors.ts';
import { openBucketFiles } from '../../src/lakehouse/tables/files/bucket.ts';
import { FileCache } from '../../src/lakehouse/tables/files/cache.ts';
import { claimFolder } from '../../src/lakehouse/tables/files/claiming.ts';
import type { LakeFiles } from '../../src/lakehouse/tables/files/files.ts';
import { openFolderStore } from '../../src/storage/folder.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { makeFile, type Made } from '../contracts/lake-files.suite.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const KB = 1_024;
const CAP = 350 * KB;
const root = mkdtempSync(join(tmpdir(), 'fieldlake-copies-'));
let database: TestDatabase;
/** What is behind the copies, and what was brought from it. */
let inner: ObjectStore;
let store: ObjectStore;
let gets: string[] = [];
let slowMs = 0;
let isAway = false;

beforeAll(async () => {
  database = await cloneDatabase();
  inner = await openFolderStore({ folder: join(root, 'store'), secret: Buffer.alloc(32, 4), baseUrl: () => '' });
  store = {
    ...inner,
    get: async (key, range) => {
      if (isAway) throw errors.objectsUnavailable();
      gets.push(key);
      await sleep(slowMs);
      return inner.get(key, range);
    },
  };
});
afterAll(async () => {
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  gets = [];
  slowMs = 0;
  isAway = false;
});

const open = (name: string, cacheBytes = CAP): Promise<LakeFiles> =>
  openBucketFiles({ store, db: database.db, cacheFolder: join(root, name), cacheBytes });

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** Files of 100 KB in the store, none of them in a cache. */
async function someFiles(files: LakeFiles, count: number): Promise<Made[]> {
  const made: Made[] = [];
  for (let at = 0; at < count; at += 1)
    made.push(await makeFile({ files, db: database.db }, Buffer.alloc(100 * KB, `${at}:${randomUUID()}`)));
  for (const { full } of made) rmSync(full, { force: true });
  return made;
}
const isWhole = ({ full, bytes }: Made) => existsSync(full) && readFileSync(full).equals(bytes);
const read = async (files: LakeFiles, some: readonly Made[]) => {
  const release = await files.hold(some.map(({ full }) => full));
  expect(some.every(isWhole)).toBe(true);
  release();
};

test('the copies stay under their cap whatever is read, and the least lately read go first', async () => {
  const files = await open('cap');
  const made = await someFiles(files, 8);
  for (const one of [...made, ...made]) {
    await read(files, [one]);
    expect(bytesIn(files.folder)).toBeLessThanOrEqual(CAP);
  }
  expect(gets).toHaveLength(16);
  gets = [];
  const [a, b, c, d] = made as [Made, Made, Made, Made];
  await read(files, [a, b, c]);
  await read(files, [a]);
  await read(files, [d]);
  expect([a, b, c, d].map(({ full }) => existsSync(full))).toEqual([true, false, true, true]);
  await files.close();
});

test('what many ask for at once is brought once', async () => {
  const files = await open('once');
  const made = await someFiles(files, 3);
  slowMs = 50;
  await Promise.all(Array.from({ length: 30 }, () => read(files, made)));
  expect(gets.toSorted()).toEqual(made.map(({ path }) => path).toSorted());
  await files.close();
});

test('files that are held stay, and whoever needs their room waits for it', async () => {
  const files = await open('held');
  const made = await someFiles(files, 5);
  const release = await files.hold(made.slice(0, 2).map(({ full }) => full));
  await read(files, [made[2]!]);
  let isDone = false;
  const waiting = read(files, made.slice(3, 5)).then(() => (isDone = true));
  await sleep(100);
  expect([isDone, made.slice(0, 2).every(isWhole)]).toEqual([false, true]);
  release();
  await waiting;
  expect(isDone).toBe(true);
  expect(bytesIn(files.folder)).toBeLessThanOrEqual(CAP);
  await files.close();
});

test('of two that wait for the same room, one gets it', async () => {
  const files = await open('same-room');
  const made = await someFiles(files, 7);
  const hold = (from: number, to: number) => files.hold(made.slice(from, to).map(({ full }) => full));
  const release = await hold(0, 3);
  const waiting = [hold(3, 5), hold(5, 7)];
  await sleep(100);
  release();
  const first = await Promise.race(waiting);
  await sleep(100);
  expect(bytesIn(files.folder)).toBeLessThanOrEqual(CAP);
  first();
  for (const end of await Promise.all(waiting)) end();
  expect(gets).toHaveLength(7);
  await files.close();
});

test('nothing more is brought for a hold that has failed', async () => {
  const files = await open('failed', 10_000 * KB);
  const made = await someFiles(files, 40);
  slowMs = 20;
  await inner.delete(made[0]!.path);
  await expect(files.hold(made.map(({ full }) => full))).rejects.toMatchObject({ code: 'LAKE_FILE_UNREADABLE' });
  await sleep(300);
  expect(gets.length).toBeLessThan(20);
  await read(files, made.slice(1));
  expect(bytesIn(files.folder)).toBe(39 * 100 * KB);
  await files.close();
});

test('a copy that did not come is not counted, although nobody waited for it any more', async () => {
  const cache = new FileCache(join(root, 'counted'), CAP);
  const files = ['here', 'refused', 'cut'].map((name) => ({ path: `tables/e/t/${name}`, byteCount: 100 * KB, sha256: null }));
  const hold = (names: string[], signal = new AbortController().signal) =>
    cache.hold(
      files.filter(({ path }) => names.some((name) => path.endsWith(name))),
      async ({ path, byteCount }) => {
        if (path.endsWith('refused')) throw errors.objectsUnavailable();
        await sleep(50);
        if (path.endsWith('cut')) throw errors.objectsUnavailable();
        mkdirSync(join(root, 'counted/tables/e/t'), { recursive: true });
        writeFileSync(cache.pathOf(path), Buffer.alloc(byteCount));
      },
      signal,
    );
  const release = await hold(['here']);
  release();
  expect(cache.bytes).toBe(100 * KB);
  await expect(hold(['refused', 'cut'])).rejects.toMatchObject({ code: 'OBJECTS_UNAVAILABLE' });
  await expect.poll(() => cache.bytes).toBe(100 * KB);
  await expect(hold(['cut'], AbortSignal.timeout(10))).rejects.toThrow();
  await expect.poll(() => cache.bytes).toBe(100 * KB);
});

test('a statement over more than the cap is refused before anything is brought', async () => {
  const files = await open('refused');
  const made = await someFiles(files, 4);
  await read(files, made.slice(0, 3));
  gets = [];
  const refused = files.hold(made.map(({ full }) => full));
  await expect(refused).rejects.toMatchObject({
    status: 422,
    code: 'LAKE_CACHE_TOO_SMALL',
    message: expect.stringContaining('LAKE_CACHE_MB'),
  });
  expect(gets).toEqual([]);
  await files.close();
});

test('a copy of another length, or none, is brought again; what the bucket lost or holds otherwise is said to be unreadable', async () => {
  const files = await open('broken');
  const [cut, gone, lost, changed] = (await someFiles(files, 4)) as [Made, Made, Made, Made];
  await read(files, [cut, gone]);
  truncateSync(cut.full, 10);
  rmSync(gone.full);
  gets = [];
  await read(files, [cut, gone]);
  expect(gets.toSorted()).toEqual([cut.path, gone.path].toSorted());
  await inner.delete(lost.path);
  await expect(files.hold([lost.full], { table: 'mine' })).rejects.toMatchObject({
    code: 'LAKE_FILE_UNREADABLE',
    message: expect.stringContaining("'mine'"),
    details: { facts: { file: lost.path } },
  });
  await inner.replace(changed.path, Buffer.alloc(changed.bytes.length, 'other'));
  await expect(files.hold([changed.full])).rejects.toMatchObject({ code: 'LAKE_FILE_UNREADABLE' });
  expect(existsSync(changed.full)).toBe(false);
  await inner.replace(changed.path, changed.bytes);
  await read(files, [changed]);
  isAway = true;
  await read(files, [changed]);
  rmSync(changed.full);
  await expect(files.hold([changed.full])).rejects.toMatchObject({ status: 503, code: 'OBJECTS_UNAVAILABLE' });
  isAway = false;
  await read(files, [changed]);
  expect(readdirSync(join(files.folder, '.staging')).flatMap((name) => (name.endsWith('.parquet') ? name : []))).toEqual([]);
  await files.close();
});

test('whoever gives up, or is out of time, leaves at once, and the others get their files', async () => {
  const files = await open('given-up');
  const made = await someFiles(files, 1);
  slowMs = 400;
  const stop = new AbortController();
  const given = files.hold([made[0]!.full], { signal: stop.signal });
  const late = files.hold([made[0]!.full], { timeoutMs: 50 });
  const others = read(files, made);
  stop.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  await expect(late).rejects.toMatchObject({ code: 'WAREHOUSE_TIMEOUT' });
  await others;
  expect(gets).toHaveLength(1);
  await files.close();
});

test('the next process finds the copies of one that has ended, and keeps those that were read last', async () => {
  const first = await open('restart');
  const made = await someFiles(first, 3);
  await read(first, made);
  await first.close();
  for (const [index, { full }] of made.entries()) utimesSync(full, 1_000 + index, 1_000 + index);
  gets = [];
  const second = await open('restart', 220 * KB);
  expect(second.folder).not.toBe(first.folder);
  expect(existsSync(first.folder)).toBe(false);
  const there = made.map((one) => ({ ...one, full: join(second.folder, one.path) }));
  expect(there.map(({ full }) => existsSync(full))).toEqual([false, true, true]);
  await read(second, there.slice(1));
  expect(gets).toEqual([]);
  await second.close();
});

test('a folder of copies has one process', async () => {
  const parent = join(root, 'claims');
  const all = await Promise.all(Array.from({ length: 10 }, () => claimFolder(parent)));
  expect(new Set(all.map(({ folder }) => folder)).size).toBe(10);
  expect(readdirSync(parent)).toHaveLength(10);
  // of a process that runs, and of one that has ended
  for (const { release } of all) release();
  const [one, ...more] = readdirSync(parent);
  for (const name of more) rmSync(join(parent, name), { recursive: true });
  renameSync(join(parent, one!), join(parent, `1-${randomUUID()}`));
  const beside = await claimFolder(parent);
  expect(readdirSync(parent)).toHaveLength(2);
  beside.release();
  rmSync(beside.folder, { recursive: true });
  const dead = `4194304-${randomUUID()}`;
  mkdirSync(join(parent, dead));
  writeFileSync(join(parent, dead, 'mark'), '');
  const claims = await Promise.all(Array.from({ length: 5 }, () => claimFolder(parent)));
  expect(claims.filter(({ folder }) => existsSync(join(folder, 'mark')))).toHaveLength(1);
  expect(existsSync(join(parent, dead))).toBe(false);
});

test('copies of an experiment without tables go, also those of a process that has ended', async () => {
  const [files, ended] = [await open('erased'), await open('erased')];
  const [erased, stays] = (await someFiles(files, 2)) as [Made, Made];
  await read(files, [erased, stays]);
  await read(
    ended,
    [erased, stays].map((one) => ({ ...one, full: join(ended.folder, one.path) })),
  );
  await ended.close();
  await database.db.run(sql('test')`delete from lake_tables where experiment_id = ${erased.experimentId}`);
  await files.tidy();
  for (const { folder } of [files, ended]) expect(readdirSync(join(folder, 'tables'))).toEqual([stays.experimentId]);
  await read(files, [stays]);
  await files.close();
});

test('copies that are not kept go with their process', async () => {
  const cacheFolder = join(root, 'command');
  const files = await openBucketFiles({ store, db: database.db, cacheFolder, cacheBytes: CAP, isKept: false });
  await read(files, await someFiles(files, 1));
  await files.close();
  expect(readdirSync(cacheFolder)).toEqual([]);
});
