/** Backs up everything that the service keeps into one folder, and restores it. */
import { constants, createWriteStream } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../database/database.ts';
import { canReadSnapshot, isUnused, listMigrationsOf, readSnapshot, writeSnapshot, type Snapshot } from '../database/snapshot.ts';
import { StartError } from '../errors.ts';
import { listLog } from '../lakehouse/tables/delta/publisher.ts';
import { ID_KEY, setPlace } from '../lakehouse/tables/files/place.ts';
import { readJson } from '../json.ts';
import { isStorageFull } from '../storage/full.ts';
import type { ObjectStore } from '../storage/objects.ts';

interface Backup extends Snapshot {
  madeAt: string;
  lakeFiles: number;
  otherFiles: number;
  /** Lake files that the tables name, but that were deleted before they could be copied. */
  missing: string[];
}

interface BackupOptions {
  /** Of the database. */
  url: string;
  dataDir: string;
  lake: ObjectStore;
}

/** Entries of the data folder that are not copied whole: the tables hold `postgres`, the manifest names the files of `lake`, and the rest is made anew. */
const NOT_COPIED = new Set(['postgres', 'postgres.log', 'lake', 'cache', 'work', 'tmp', 'macros']);
/** Tables that mean nothing in another database: changes for listeners are ordered by the transactions of their own database. */
const NOT_WRITTEN = new Set(['changes', 'change_epoch']);
const TABLES = 'tables';
const FILES = 'files';
const ABOUT = 'backup.json';

const copy = (from: string, to: string) => copyFile(from, to, constants.COPYFILE_FICLONE);
const isGone = (error: unknown) => ['ENOENT', 'OBJECT_NOT_FOUND'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Copies a folder; files that go away meanwhile are passed over. Answers how many were copied. */
async function copyFolder(from: string, to: string, skip: ReadonlySet<string> = new Set()): Promise<number> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  let copied = 0;
  for (const entry of await readdir(from, { withFileTypes: true }).catch(() => [])) {
    if (skip.has(entry.name)) continue;
    if (entry.isDirectory()) copied += await copyFolder(join(from, entry.name), join(to, entry.name));
    else if (entry.isFile())
      try {
        await copy(join(from, entry.name), join(to, entry.name));
        copied += 1;
      } catch (error) {
        if (!isGone(error)) throw error;
      }
  }
  return copied;
}

/** Where a folder is, or would be, without links. */
async function findPlace(folder: string): Promise<string> {
  const above = dirname(folder);
  return realpath(folder).catch(async () => (above === folder ? folder : join(await findPlace(above), basename(folder))));
}

async function requireEmpty(folder: string): Promise<void> {
  if ((await readdir(folder).catch(() => [])).length > 0)
    throw new StartError(`${folder} is not empty; name a folder that is, or that is not there yet.`);
}

/**
 * Writes a backup while the service runs: all tables as one moment had them, the files and logs of the lake that they tell of, and everything else of the data folder.
 * `backup.json` comes last: a folder without it is no backup. Errors: StartError.
 */
export async function makeBackup(options: BackupOptions, folder: string): Promise<Backup> {
  const within = relative(await realpath(options.dataDir), await findPlace(folder));
  if (!/^\.\.(\/|$)/.test(within) && !isAbsolute(within))
    throw new StartError(`${folder} is in the data folder, and would be copied into itself; name one outside of it.`);
  await requireEmpty(folder);
  try {
    return await writeBackup(options, folder);
  } catch (error) {
    if (isStorageFull(error))
      throw new StartError(`There is no room for the backup in ${folder}; what is there of it is none, and can go.`);
    throw error;
  }
}

async function writeBackup({ url, dataDir, lake }: BackupOptions, folder: string): Promise<Backup> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const missing: string[] = [];
  let lakeFiles = 0;
  let otherFiles = 0;
  const snapshot = await writeSnapshot(url, join(folder, TABLES), NOT_WRITTEN, async (read) => {
    const paths = (await read('lake_files', 'path')).map(([path]) => path ?? '');
    for (const [lakeId] of await read('lake_place', 'lake_id')) if (lakeId) paths.push(ID_KEY);
    for (const [id, experimentId, version] of await read('lake_tables', 'id', 'experiment_id', 'published_version'))
      if (version) paths.push(...(await listLog(lake, { id: id ?? '', experimentId: experimentId ?? '' }, Number(version))));
    for (const path of paths) {
      const to = join(folder, FILES, 'lake', path);
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      try {
        if (lake.kind === 'folder') await copy(join(dataDir, 'lake', path), to);
        else await pipeline(await lake.get(path), createWriteStream(to, { mode: 0o600 }));
        lakeFiles += 1;
      } catch (error) {
        if (!isGone(error)) throw error;
        missing.push(path);
      }
    }
    otherFiles = await copyFolder(dataDir, join(folder, FILES), NOT_COPIED);
  });
  const backup = { madeAt: new Date().toISOString(), ...snapshot, lakeFiles, otherFiles, missing };
  await writeFile(join(folder, ABOUT), `${JSON.stringify(backup, null, 2)}\n`, { flush: true });
  return backup;
}

/** Reads what a folder says of the backup in it. Errors: StartError. */
export async function readBackup(folder: string): Promise<Backup> {
  try {
    return readJson(await readFile(join(folder, ABOUT), 'utf8')) as Backup;
  } catch {
    throw new StartError(`${folder} holds no whole backup: there is no ${ABOUT} in it that can be read.`);
  }
}

/** Refuses a data folder that a service uses or has used. */
export async function requireFresh(dataDir: string): Promise<void> {
  const there = await readdir(dataDir).catch(() => []);
  if (there.some((name) => ['postgres', 'lake', 'objects'].includes(name)))
    throw new StartError(`${dataDir} is in use; set DATA_DIR to an empty folder.`);
}

/**
 * Puts a backup into an empty data folder and a database that is migrated and has no account. Afterwards the lake is in the data folder. Errors: StartError.
 */
export async function restoreBackup({ url, dataDir, db }: { url: string; dataDir: string; db: Database }, folder: string): Promise<Backup> {
  const backup = await readBackup(folder);
  if (!(await isUnused(url))) throw new StartError('The database is in use; restore into one that has no account.');
  if (!(await canReadSnapshot(url)))
    throw new StartError(
      'The role of DATABASE_URL may not restore: a superuser lets it by "grant set on parameter session_replication_role to ROLE", on that server once.',
    );
  const here = await listMigrationsOf(url);
  if (JSON.stringify(here) !== JSON.stringify(backup.migrations))
    throw new StartError('The backup was made by another version: restore it with that one, then start this one on what it restored.');
  await copyFolder(join(folder, FILES), dataDir);
  await readSnapshot(url, join(folder, TABLES), backup);
  await setPlace(db, 'folder');
  return backup;
}
