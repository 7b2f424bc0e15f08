import { mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../tables/files/claiming.ts';

const DAY_MS = 86_400_000;

const host = hostname().replaceAll(/[^A-Za-z0-9.]/g, '_');
const NAMED = /^duckdb-(.+)-(\d+)-[^-]+$/;
const made = new Set<string>();

/** Makes a private folder whose name says which process owns it. Other processes can then tell when nobody needs it any more. */
export async function makeScratch(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = await realpath(await mkdtemp(join(folder, `duckdb-${host}-${process.pid}-`)));
  made.add(path);
  return path;
}

export async function removeScratch(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  made.delete(path);
}

/**
 * Whether the process of a folder has ended. A folder of another machine is never judged here. An old folder that names no process is abandoned after a day.
 */
async function isAbandoned(path: string, name: string): Promise<boolean> {
  if (!name.startsWith('duckdb-') || made.has(path)) return false;
  const [, owner, pid] = NAMED.exec(name) ?? [];
  if (owner === undefined) return Date.now() - (await stat(path)).mtimeMs > DAY_MS;
  return owner === host && (Number(pid) === process.pid || !isAlive(Number(pid)));
}

/** Removes the scratch folders of processes that have ended, such as killed ones, and answers how many. Folders of a living process stay. */
export async function sweepScratch(folder: string): Promise<number> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) return 0;
  let removed = 0;
  for (const name of await readdir(root)) {
    const path = join(root, name);
    if (!(await isAbandoned(path, name).catch(() => false))) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}
