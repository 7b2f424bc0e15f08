import { chmod } from 'node:fs/promises';
import { join } from 'node:path';

/** Of a data folder, as it may have been made before everything in it was private: what lies beneath is out of reach with it. */
const PRIVATE = ['lake', 'objects', 'outbox', 'tmp', 'work', 'macros'];

/** Closes the folders of a data folder to everybody but its owner. */
export async function makePrivate(dataDir: string): Promise<void> {
  for (const name of PRIVATE)
    await chmod(join(dataDir, name), 0o700).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
}
