import { constants } from 'node:fs';
import { access, chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../errors.ts';

/** The folders to close in a data folder, which may be older than the rule that all of it is private. Nobody can reach what lies in a closed folder. */
const PRIVATE = ['lake', 'objects', 'outbox', 'tmp', 'work', 'macros'];

/** Says that a data folder cannot be used. */
export const refuseDataFolder = (dataDir: string, cause: unknown): StartError =>
  new StartError(`DATA_DIR ${dataDir} cannot be used by this account: ${(cause as Error).message}.`, { cause });

/** Makes a data folder where there is none, and closes its folders to everybody but their owner. Errors: StartError where it cannot be written. */
export async function openDataFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK);
    for (const name of PRIVATE)
      await chmod(join(dataDir, name), 0o700).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
  } catch (error) {
    throw refuseDataFolder(dataDir, error);
  }
}
