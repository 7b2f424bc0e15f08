/** Puts the entries of tables' logs where any reader of Delta tables finds them, in order, each once. */
import { buffer } from 'node:stream/consumers';
import type { Database, Transaction } from '../../../database/database.ts';
import type { ObjectFacts, ObjectStore } from '../../../storage/objects.ts';
import type { StagingArea } from '../staging.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { listEntries, listWaitingTables, lockLog, markPublished, tryLockLog } from './log.queries.ts';
import { printEntryKey, LOG_FOLDER, printTableFolder } from './places.ts';

export { findLag, type Lag } from './log.queries.ts';

export interface PublishDeps {
  db: Database;
  /** Of the lake: `tables/<experiment>/<table>/` is a table. */
  lake: ObjectStore;
  staging: StagingArea;
}

/** Entries of one table that are published in one go. */
const AT_ONCE = 200;
const TABLES_AT_ONCE = 100;

/** Someone else has written into a table's log. It is left as it is. */
export class LogTaken extends Error {
  readonly tableId: string;
  constructor(tableId: string, key: string) {
    super(`${key} holds an entry that is not ours; the log of this table is not written any more`);
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

/** Publishes what waits of one table, unless another is at it; how many entries. Throws LogTaken. */
export const publishTable = (deps: PublishDeps, tableId: string): Promise<number> =>
  deps.db.transaction(async (tx) => ((await tryLockLog(tx, tableId)) ? publishLocked(deps, tx, tableId) : 0));

/** Publishes what waits of all tables; `onProblem` is told of a table that could not be. Answers how many entries. */
export async function publishWaiting(
  deps: PublishDeps,
  { signal, onProblem }: { signal?: AbortSignal; onProblem: (tableId: string, error: unknown) => void },
): Promise<number> {
  let published = 0;
  for (const { tableId } of await listWaitingTables(deps.db, TABLES_AT_ONCE)) {
    signal?.throwIfAborted();
    try {
      published += await publishTable(deps, tableId);
    } catch (error) {
      onProblem(tableId, error);
    }
  }
  return published;
}

/** Removes the log of a table that is gone, so that no new reader finds it. Its files stay for readers who have. */
export const removeLog = (
  { db, lake }: Pick<PublishDeps, 'db' | 'lake'>,
  { id, experimentId }: { id: string; experimentId: string },
): Promise<void> =>
  db.transaction(async (tx) => {
    await lockLog(tx, id);
    await lake.erase(`${printTableFolder(experimentId, id)}/${LOG_FOLDER}/`);
  });

/** Removes everything of a table from the lake, in a transaction that then forgets the table: nobody publishes it meanwhile. Answers the bytes that its files had. */
export async function removeTable(
  lake: ObjectStore,
  tx: Transaction,
  { id, experimentId }: { id: string; experimentId: string },
): Promise<number> {
  await lockLog(tx, id);
  const isLog = ({ key }: ObjectFacts) => Number(key.includes(`/${LOG_FOLDER}/`));
  const found: ObjectFacts[] = [];
  for await (const object of lake.list(`${printTableFolder(experimentId, id)}/`)) found.push(object);
  // the log first: what is left of a table without one is no table
  for (const { key } of found.sort((a, b) => isLog(b) - isLog(a))) await lake.delete(key);
  return found.reduce((sum, { byteCount }) => sum + byteCount, 0);
}
