/** Decides which process has which folder of copies. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';

const NAMED = /^(\d+)-[0-9a-f-]{36}$/;
const claimed = new Set<string>();

/** Whether a process with this id exists. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // the process exists, and belongs to another account
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * Lists the folders of processes that have ended. A folder with our own process id that we did not claim is an earlier process's: in a container every process
 * has the id 1.
 */
export async function listAbandoned(parent: string): Promise<string[]> {
  const folders = await readdir(parent).catch(() => []);
  return folders.flatMap((name) => {
    const pid = Number(NAMED.exec(name)?.[1]);
    const folder = join(parent, name);
    return pid > 0 && !claimed.has(folder) && (pid === process.pid || !isAlive(pid)) ? folder : [];
  });
}

/**
 * Takes over the folder of a process that has ended, with its copies, or makes a new one. Renaming the folder claims it: when two processes try, one succeeds.
 */
export async function claimFolder(parent: string): Promise<{ folder: string; release: () => void }> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const root = await realpath(parent);
  const folder = join(root, `${process.pid}-${randomUUID()}`);
  claimed.add(folder);
  for (const left of await listAbandoned(root)) {
    const isOurs = await rename(left, folder).then(
      () => true,
      () => false,
    );
    if (isOurs) break;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return { folder, release: () => void claimed.delete(folder) };
}
