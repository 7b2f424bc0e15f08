/** Removes the entries of versions that are no longer kept from the tables' logs. */
import type { Database } from '../../../database/database.ts';
import type { ObjectStore } from '../../../storage/objects.ts';
import { listTrimmable, setLogFrom } from './log.queries.ts';
import { printCheckpointKey, printEntryKey, printTableFolder } from './places.ts';
import { CHECKPOINT_EVERY } from './schema.ts';

/**
 * Removes the objects that no kept version needs. A reader of the oldest kept version begins at the last checkpoint not after it, and needs the entry beside
 * that checkpoint. Answers how many.
 */
export async function trimLogs(db: Database, lake: ObjectStore): Promise<number> {
  let removed = 0;
  for (const { id, experimentId, from, oldestKept } of await listTrimmable(db, CHECKPOINT_EVERY)) {
    const first = Math.floor(oldestKept / CHECKPOINT_EVERY) * CHECKPOINT_EVERY;
    const folder = printTableFolder(experimentId, id);
    // the oldest goes first: the entries that a crash leaves have no gaps
    for (let version = from; version < first; version += 1)
      for (const key of [printEntryKey(folder, version), printCheckpointKey(folder, version)]) if (await lake.delete(key)) removed += 1;
    await setLogFrom(db, id, first);
  }
  return removed;
}
