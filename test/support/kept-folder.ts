import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Gives a finished folder the name under which later runs find it, and removes older ones beside it. A run that made the same at the same time may have
 * been quicker: its folder stays. One that is still being made has the number of its process at its end, and is left alone.
 */
export function keepOnly(begun: string, kept: string): void {
  try {
    renameSync(begun, kept);
  } catch (error) {
    rmSync(begun, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  }
  for (const name of readdirSync(dirname(kept)))
    if (name !== basename(kept) && !/-\d+$/.test(name)) rmSync(join(dirname(kept), name), { recursive: true, force: true });
}
