/** Publishes the entries of tables' logs in the lake, where any reader of Delta tables finds them. Entries go in order, each once. */
import { buffer } from 'node:stream/consumers';
import type { Database, Transaction } from '../../../database/database.ts';
import type { ObjectFacts, ObjectStore } from '../../../storage/objects.ts';
import type { StagingArea } from '../staging.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { listEntries, listWaitingTables, lockLog, markPublished, tryLockLog } from './log.queries.ts';
import { isLogKey, printEntryKey, printLogFolder, printTableFolder } from './places.ts';

export { findLag, type Lag } from './log.queries.ts';

export interface PublishDeps {
  db: Database;
  /** The store of the lake. Each `tables/<experiment>/<table>/` in it is one table. */
  lake: ObjectStore;
  staging: StagingArea;
}

/** The most entries of one table that are published at a time. */
const AT_ONCE = 200;
const TABLES_AT_ONCE = 100;

/** The error for a log into which someone else has written. That log is left as it is. */
export class LogTaken extends Error {
  readonly tableId: string;
  constructor(tableId: string, key: string) {
    super(
      `${key} holds an entry that is not ours; the log of this table is not written any more. docs/growing.md says how to begin it anew`,
    );
    this.name = 'LogTaken';
    this.tableId = tableId;
  }
}

async function holds(lake: ObjectStore, key: string, bytes: Buffer): Promise<boolean> {
  const there = await buffer(await lake.get(key));
  return there.equals(bytes);
}

async function publishLocked({ lake, staging }: PublishDeps, tx: Transaction, tableId: string): Promise<number> {
  const entries = await listEntries(tx, tableId, AT_ONCE);
  for (const { version, entry, state, experimentId } of entries) {
    const folder = printTableFolder(experimentId, tableId);
    const bytes = Buffer.from(entry);
    const key = printEntryKey(folder, version);
    if (!(await lake.create(key, bytes)) && !(await holds(lake, key, bytes))) throw new LogTaken(tableId, key);
    if (state) await writeCheckpoint({ db: tx, lake, staging }, { tableId, version, state });
  }
  const last = entries.at(-1);
  if (last) await markPublished(tx, tableId, last.version);
  return entries.length;
}

/** Publishes the waiting entries of one table, unless another process is publishing them. Answers how many. Throws LogTaken. */
export const publishTable = (deps: PublishDeps, tableId: string): Promise<number> =>
  deps.db.transaction(async (tx) => ((await tryLockLog(tx, tableId)) ? publishLocked(deps, tx, tableId) : 0));

/** Publishes the waiting entries of all tables. Answers how many. `onProblem` is told of each table that failed. */
export async function publishWaiting(
  deps: PublishDeps,
  { signal, onProblem }: { signal?: AbortSignal; onProblem: (tableId: string, error: unknown) => void },
): Promise<number> {
  let published = 0;
  const failed: string[] = [];
  for (;;) {
    const [waiting, before] = [await listWaitingTables(deps.db, TABLES_AT_ONCE, failed), failed.length];
    for (const tableId of waiting) {
      signal?.throwIfAborted();
      try {
        published += await publishTable(deps, tableId);
      } catch (error) {
        onProblem(tableId, error);
        failed.push(tableId);
      }
    }
    // those that failed stay the longest waiting, and would take the places of others the next time too
    if (waiting.length < TABLES_AT_ONCE || failed.length === before) return published;
  }
}

const NUMBERED = /\/(\d{20})\.(json|checkpoint\.parquet)$/;

/** Lists the entries and checkpoints of a table's log up to a version. */
export async function listLog(
  lake: ObjectStore,
  { id, experimentId }: { id: string; experimentId: string },
  version: number,
): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of lake.list(printLogFolder(printTableFolder(experimentId, id))))
    if (Number(NUMBERED.exec(key)?.[1] ?? Infinity) <= version) keys.push(key);
  return keys;
}

/** Removes the log of a deleted table, so that no new reader finds it. The files stay for readers that have already opened the table. */
export const removeLog = (
  { db, lake }: Pick<PublishDeps, 'db' | 'lake'>,
  { id, experimentId }: { id: string; experimentId: string },
): Promise<void> =>
  db.transaction(async (tx) => {
    await lockLog(tx, id);
    await lake.erase(printLogFolder(printTableFolder(experimentId, id)));
  });

/**
 * Removes everything of a table from the lake. The caller's transaction then forgets the table; until it ends, nobody can publish the table. Answers how many
 * bytes the files had.
 */
export async function removeTable(
  lake: ObjectStore,
  tx: Transaction,
  { id, experimentId }: { id: string; experimentId: string },
): Promise<number> {
  await lockLog(tx, id);
  const found: ObjectFacts[] = [];
  for await (const object of lake.list(`${printTableFolder(experimentId, id)}/`)) found.push(object);
  // the log goes first: files without a log are no longer a table, should the rest fail
  for (const { key } of found.sort((a, b) => Number(isLogKey(b.key)) - Number(isLogKey(a.key)))) await lake.delete(key);
  return found.reduce((sum, { byteCount }) => sum + byteCount, 0);
}
