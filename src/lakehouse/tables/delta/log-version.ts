/** Writes the entry that a version adds to its table's Delta log. Its bytes are fixed in the transaction that makes the version. */
import type { TableKind } from '../../terms/catalog.ts';
import type { LockedTable } from '../manifest-rows.ts';
import type { StagedFile } from '../../terms/warehouse.ts';
import type { Transaction } from '../../../database/database.ts';
import { describeTable, printEntry, printNothing } from './entry.ts';
import { insertEntries, hasOlderFiles, updateState, type NewEntry } from './log.queries.ts';
import { CHECKPOINT_EVERY, makeFirstState, makeNextState } from './schema.ts';

interface LoggedVersion {
  version: number;
  /** Why the version was made: a `CommitCause`. */
  cause: string;
  added: readonly StagedFile[];
  retired: readonly { path: string; byteCount: number }[];
  /** Names, in lower case, of columns whose type has changed. */
  retyped: ReadonlySet<string>;
}

/**
 * Adds the entry of a version to the log of its table, in the transaction that makes the version. The log begins when the table gets its first file; earlier
 * versions then get entries without rows. A table that has rows from before there were logs gets no log here: `startLogs` begins it.
 */
export async function writeLogVersion(
  tx: Transaction,
  table: LockedTable,
  { version, cause, added, retired, retyped }: LoggedVersion,
): Promise<void> {
  const begins = table.logState === null;
  if (begins && (added.length === 0 || table.rowCount > 0)) return;
  const at = Date.now();
  const files = retired.length === 0 || (await hasOlderFiles(tx, table.id, version));
  const before = table.logState ?? makeFirstState(table.kind as TableKind);
  const columns = added.map((file) => file.columns);
  const after = makeNextState(before, columns, { files, retyped });
  const described = describeTable(table);
  const entry = printEntry({
    table: described,
    before: begins ? after : table.logState,
    after,
    cause,
    at,
    added: added.map((file) => ({ ...file, modifiedAt: at })),
    retired,
    changesRows: cause !== 'compact',
  });
  const entries: NewEntry[] = [];
  if (begins) {
    const made = { table: described, before: null, after, cause: 'create', at, added: [], retired: [], changesRows: true };
    entries.push({ version: 0, entry: printEntry(made), state: null });
    for (let earlier = 1; earlier < version; earlier += 1) entries.push({ version: earlier, entry: printNothing(at), state: null });
  }
  entries.push({ version, entry, state: version % CHECKPOINT_EVERY === 0 ? after : null });
  await insertEntries(tx, table.id, entries);
  if (JSON.stringify(after) !== JSON.stringify(table.logState)) await updateState(tx, table.id, after);
}
