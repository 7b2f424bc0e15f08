/** Writes a table's log up to a version into one Parquet file, so that a reader need not read every entry. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRefusal } from '../../../errors.ts';
import type { ObjectStore } from '../../../storage/objects.ts';
import type { Queryable } from '../../../database/database.ts';
import { useFolder, useSession, type StagingArea } from '../staging.ts';
import { quoteText } from '../../terms/quoting.ts';
import { addOf, describeTable, makeMetaData, removeOf, type LoggedTable } from './entry.ts';
import { findLogged, listLoggedFiles, listRetired } from './log.queries.ts';
import { printCheckpointKey, printHintKey, printTableFolder } from './places.ts';
import { describeState, listTypes, type LogState } from './schema.ts';

const MAP = 'map(varchar, varchar)';
/** The columns of a checkpoint, as the Delta protocol names them. Every row fills exactly one of them. */
const COLUMNS = {
  protocol: 'struct(minReaderVersion integer, minWriterVersion integer, readerFeatures varchar[], writerFeatures varchar[])',
  metaData: `struct(id varchar, name varchar, description varchar, format struct(provider varchar, options ${MAP}), schemaString varchar, partitionColumns varchar[], configuration ${MAP}, createdTime bigint)`,
  add: `struct(path varchar, partitionValues ${MAP}, size bigint, modificationTime bigint, dataChange boolean, stats varchar)`,
  remove: `struct(path varchar, deletionTimestamp bigint, dataChange boolean, extendedFileMetadata boolean, partitionValues ${MAP}, size bigint)`,
  txn: 'struct(appId varchar, version bigint, lastUpdated bigint)',
};

/** Lists what a reader needs of the log up to a version. */
async function listActions(
  db: Queryable,
  { table, version, state }: { table: LoggedTable; version: number; state: LogState },
): Promise<object[]> {
  const types = listTypes(state);
  const files = await listLoggedFiles(db, table.id, version);
  const retired = await listRetired(db, table.id, version);
  return [
    { protocol: describeState(state).protocol },
    { metaData: makeMetaData(table, state) },
    ...retired.map(({ retiredAt, ...file }) => ({ remove: removeOf(file, { at: retiredAt, changesRows: false }) })),
    ...files.map((file) => ({ add: addOf(file, types, false) })),
  ];
}

/** Writes the checkpoint of a version and points readers to it. A checkpoint that exists already is left as it is. */
export async function writeCheckpoint(
  { db, lake, staging }: { db: Queryable; lake: ObjectStore; staging: StagingArea },
  { tableId, version, state }: { tableId: string; version: number; state: LogState },
): Promise<void> {
  const table = await findLogged(db, tableId);
  if (!table) return;
  const actions = await listActions(db, { table: describeTable(table), version, state });
  const folder = printTableFolder(table.experimentId, tableId);
  await useFolder(staging, async (work) => {
    const [given, made] = [join(work, 'actions.json'), join(work, 'checkpoint.parquet')];
    await writeFile(given, actions.map((action) => `${JSON.stringify(action)}\n`).join(''));
    const columns = Object.entries(COLUMNS).map(([name, type]) => `${name}: ${quoteText(type)}`);
    const read = `read_json(${quoteText(given)}, format = 'newline_delimited', columns = {${columns.join(', ')}})`;
    const copy = { sql: `copy (select * from ${read}) to ${quoteText(made)} (format parquet, compression snappy)`, values: [] };
    await useSession(staging, { small: true }, (session) => session.prepare([copy]));
    await lake.put(printCheckpointKey(folder, version), createReadStream(made)).catch((error: unknown) => {
      if (!isRefusal(error, 'objectExists')) throw error;
    });
  });
  // the hint is the only object of a log that ever changes
  await lake.replace(printHintKey(folder), Buffer.from(JSON.stringify({ version, size: actions.length })));
}
