/** Which folder of copies is whose. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';

const NAMED = /^(\d+)-[0-9a-f-]{36}$/;
const claimed = new Set<string>();

/** Whether there is a process of an id. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // of another account
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Folders of processes that have ended. One with our own id that we did not claim is of a process of before: in a container every one is process 1. */
export async function listAbandoned(parent: string): Promise<string[]> {
  const folders = await readdir(parent).catch(() => []);
  return folders.flatMap((name) => {
    const pid = Number(NAMED.exec(name)?.[1]);
    const folder = join(parent, name);
    return pid > 0 && !claimed.has(folder) && (pid === process.pid || !isAlive(pid)) ? folder : [];
  });
}

/** Takes over the folder of a process that has ended, with what is in it, or makes one. To rename it is to claim it: of two who try, one does. */
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
