/** Takes the entries of versions that are not kept out of the tables' logs. */
import type { Database } from '../../../database/database.ts';
import type { ObjectStore } from '../../../storage/objects.ts';
import { listTrimmable, setLogFrom } from './log.queries.ts';
import { printCheckpointKey, printEntryKey, printTableFolder } from './places.ts';
import { CHECKPOINT_EVERY } from './schema.ts';

/** Removes what no kept version needs: a reader begins at the checkpoint at or before the oldest one, and needs the entry beside it. Answers how many objects. */
export async function trimLogs(db: Database, lake: ObjectStore): Promise<number> {
  let removed = 0;
  for (const { id, experimentId, from, oldestKept } of await listTrimmable(db, CHECKPOINT_EVERY)) {
    const first = Math.floor(oldestKept / CHECKPOINT_EVERY) * CHECKPOINT_EVERY;
    const folder = printTableFolder(experimentId, id);
    // the oldest first: whatever is left behind a crash, what is there has no gaps
    for (let version = from; version < first; version += 1)
      for (const key of [printEntryKey(folder, version), printCheckpointKey(folder, version)]) if (await lake.delete(key)) removed += 1;
    await setLogFrom(db, id, first);
  }
  return removed;
}
