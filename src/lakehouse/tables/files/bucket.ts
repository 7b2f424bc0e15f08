/** Keeps a lake in a bucket, with copies of the files that are read in a folder of this process. */
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../../database/database.ts';
import { ApiError, errors, isRefusal } from '../../../errors.ts';
import { isStorageFull } from '../../../storage/full.ts';
import { Meter } from '../../../storage/metering.ts';
import type { ObjectStore, Stored } from '../../../storage/objects.ts';
import { Stop } from '../../terms/stop.ts';
import { FileCache, type FileFacts } from './cache.ts';
import { claimFolder, listAbandoned } from './claiming.ts';
import type { HoldOptions, LakeFiles } from './files.ts';
import { findFiles, listLiving } from './files.queries.ts';
import { measureBody } from './folder.ts';

interface BucketOptions {
  store: ObjectStore;
  db: Queryable;
  /** The parent folder; each process has its own folder of copies in it. */
  cacheFolder: string;
  /** The most bytes that the copies may take. */
  cacheBytes: number;
  /** Whether the copies stay for the next process. */
  isKept?: boolean;
}

const TRIES = 3;
const AGAIN_MS = 100;

const unreadable = (path: string, problem: string) =>
  errors.lakeFileUnreadable(basename(dirname(path))).with({ facts: { file: path, problem } });

/** Downloads an object to a path of this machine. The copy gets there only when its length and hash are as the manifest says. */
async function download(
  store: ObjectStore,
  { path, byteCount, sha256 }: FileFacts,
  { part, to }: { part: string; to: string },
): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      const meter = new Meter({ contentLength: byteCount, sha256: sha256 ?? undefined });
      await pipeline(meter.pass(await store.get(path)), createWriteStream(part, { mode: 0o600 }));
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await rename(part, to);
      return;
    } catch (error) {
      await rm(part, { force: true });
      const code = error instanceof ApiError ? error.code : undefined;
      if (code === 'OBJECT_NOT_FOUND') throw unreadable(path, 'it is not in the bucket');
      if (isStorageFull(error) || (code !== undefined && code !== 'OBJECT_MISMATCH')) throw error;
      if (tries === TRIES)
        throw code === undefined ? errors.objectsUnavailable().with({ cause: error }) : unreadable(path, 'it is not what was written');
      await sleep(tries * AGAIN_MS);
    }
}

/** Uploads a written file into the bucket. The object may exist already, from a first attempt whose answer was lost: nobody else knows its name. */
async function upload(store: ObjectStore, path: string, written: string): Promise<Stored> {
  const { size } = await stat(written);
  try {
    return await store.put(path, createReadStream(written), { contentLength: size });
  } catch (error) {
    if (!isRefusal(error, 'objectExists')) throw error;
    const [there, ours] = [await measureBody(await store.get(path)), await measureBody(createReadStream(written))];
    if (there.sha256 !== ours.sha256) throw error;
    return ours;
  }
}

/** Claims a folder of copies and counts what lies in it. */
export async function openBucketFiles({ store, db, cacheFolder, cacheBytes, isKept = true }: BucketOptions): Promise<LakeFiles> {
  const { folder, release } = await claimFolder(cacheFolder);
  const cache = new FileCache(folder, cacheBytes);

  const fetch = (file: FileFacts) => download(store, file, { part: join(folder, '.staging', randomUUID()), to: cache.pathOf(file.path) });

  const factsOf = async (paths: readonly string[]): Promise<FileFacts[]> => {
    const known = paths.map((path) => [path, cache.factsOf(path)] as const);
    const unknown = known.flatMap(([path, facts]) => (facts ? [] : path));
    const found = new Map((unknown.length === 0 ? [] : await findFiles(db, unknown)).map((facts) => [facts.path, facts]));
    return Promise.all(
      known.map(async ([path, facts]) => {
        const named = facts ?? found.get(path);
        if (named) return named;
        // a file that was written just now is in the bucket before the manifest names it
        const there = await store.head(path);
        if (!there) throw unreadable(path, 'it is not in the bucket');
        return { path, byteCount: there.byteCount, sha256: null };
      }),
    );
  };

  const hold = async (paths: readonly string[], { table, ...options }: HoldOptions = {}) => {
    const files = [...new Set(paths)].flatMap((path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : []));
    if (files.length === 0) return () => undefined;
    const stop = new Stop(options);
    try {
      return await cache.hold(await factsOf(files), fetch, stop.signal);
    } catch (error) {
      throw table !== undefined && error instanceof ApiError && isRefusal(error, 'lakeFileUnreadable')
        ? errors.lakeFileUnreadable(table).with(error.details)
        : error;
    } finally {
      stop.clear();
    }
  };

  return {
    folder,
    hold,
    add: async (files) => {
      const stored: Stored[] = [];
      for (const { written, path } of files) {
        const facts = await upload(store, path, written);
        stored.push(facts);
        cache.keep({ path, ...facts }, written);
      }
      return stored;
    },
    remove: async (paths) => {
      const removed = { files: 0, bytes: 0 };
      for (const path of paths) {
        cache.remove(path);
        const facts = await store.head(path);
        if (!facts || !(await store.delete(path))) continue;
        removed.files += 1;
        removed.bytes += facts.byteCount;
      }
      return removed;
    },
    tidy: async () => {
      const abandoned = await listAbandoned(dirname(folder));
      for (const each of [folder, ...abandoned]) {
        const here = await readdir(join(each, 'tables')).catch(() => []);
        const living = new Set(here.length === 0 ? [] : await listLiving(db, here));
        for (const id of here)
          if (living.has(id)) continue;
          else if (each === folder) cache.removeExperiment(id);
          else await rm(join(each, 'tables', id), { recursive: true, force: true });
      }
    },
    close: async () => {
      if (!isKept) await rm(folder, { recursive: true, force: true });
      release();
    },
  };
}
