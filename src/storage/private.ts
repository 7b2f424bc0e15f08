import { chmod } from 'node:fs/promises';
import { join } from 'node:path';

/** The folders to close in a data folder, which may be older than the rule that all of it is private. Nobody can reach what lies in a closed folder. */
const PRIVATE = ['lake', 'objects', 'outbox', 'tmp', 'work', 'macros'];

/** Closes the folders of a data folder to everybody but its owner. */
export async function makePrivate(dataDir: string): Promise<void> {
  for (const name of PRIVATE)
    await chmod(join(dataDir, name), 0o700).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
}
