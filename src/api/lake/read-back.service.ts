/**
 * The way back: what the pipelines on Databricks say of the tables there (`table_counts`, `table_columns`, `ingest_reports` of `pipelines/gold`) reaches Postgres, where readers
 * look for columns, counts and reports. One small statement when nothing has changed; what has is read table by table. Safe to run again, and in several processes at once.
 */
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { readJson } from '../../json.ts';
import type { Column, TableKind } from '../../lakehouse/catalog.ts';
import { instantOf } from '../../lakehouse/instant.ts';
import { columnsAt, commit, createTable, findTable, type ColumnState } from '../../lakehouse/manifest.ts';
import { parseType, typeText } from '../../lakehouse/types.ts';
import type { Warehouse } from '../../lakehouse/warehouse.ts';
import {
  claimLook,
  insertReportedUploads,
  listExperimentsAmong,
  listStates,
  lockState,
  noteShared,
  noteState,
  settleUploads,
  writeReports,
  type Reported,
} from './read-back.queries.ts';

export type ReadBackTools = Pick<Context, 'db' | 'warehouse' | 'log'>;

export interface ReadBack {
  /** Tables that had changed, and those of them that could not be brought up to date. */
  tables: number;
  failed: number;
  /** Columns and reports that were new or had changed. */
  columns: number;
  reports: number;
}

interface SharedTable {
  experimentId: string;
  kind: TableKind;
  identifier: string;
  name: string | null;
  rowCount: number;
  state: string;
}

const KINDS = new Set(['raw_data', 'device', 'macro', 'upload', 'quarantine']);
const TOGETHER = 100;

const COUNTS = 'select experiment_id, kind, identifier, name, row_count, state from gold.table_counts';
const COLUMNS = `select experiment_id, table_id, name, original_key, type, origin, has_values, exact_double, position from gold.table_columns
  where length(name) between 1 and 255 and `;
const REPORTS = `select experiment_id, table_id, upload_id, source_kind, contributor_id, path, ordinal, unix_micros(uploaded_at) as uploaded_at, status, stored, quarantined,
  already_there, reason, message, columns from gold.ingest_reports where `;

type Row = Readonly<Record<string, unknown>>;
/** A cell that is null or text; other kinds of values are none of ours. */
const orNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const wanted = (value: unknown): string => {
  if (typeof value === 'string') return value;
  throw new Error(`A cell of the pipeline's tables is ${typeof value}, not text.`);
};
const isTrue = (value: unknown) => value === true || value === 'true';

const toTable = (row: Row): SharedTable => ({
  experimentId: wanted(row['experiment_id']),
  kind: wanted(row['kind']) as TableKind,
  identifier: wanted(row['identifier']),
  name: orNull(row['name']),
  rowCount: Number(row['row_count']),
  state: wanted(row['state']),
});

const toColumn = (row: Row): ColumnState => ({
  name: wanted(row['name']),
  type: parseType(wanted(row['type'])),
  origin: wanted(row['origin']) as Column['origin'],
  originalKey: orNull(row['original_key']) ?? undefined,
  nullable: true,
  hasValues: isTrue(row['has_values']),
  exactDouble: isTrue(row['exact_double']),
});

const toReport = (row: Row): Reported => ({
  experimentId: wanted(row['experiment_id']),
  tableId: wanted(row['table_id']),
  uploadId: wanted(row['upload_id']),
  sourceKind: wanted(row['source_kind']),
  contributorId: orNull(row['contributor_id']),
  uploadedAt: instantOf(BigInt(String(row['uploaded_at']))),
  path: wanted(row['path']),
  ordinal: Number(row['ordinal']),
  status: wanted(row['status']),
  stored: Number(row['stored']),
  quarantined: Number(row['quarantined']),
  alreadyThere: Number(row['already_there']),
  reason: orNull(row['reason']),
  message: orNull(row['message']),
  columns: readJson(wanted(row['columns'])),
});

const among = (sql: string, tables: readonly SharedTable[]) => {
  const markers = (values: readonly string[]) => `(${values.map(() => '?').join(', ')})`;
  const [experiments, ids] = [tables.map(({ experimentId }) => experimentId), tables.map(({ identifier }) => identifier)].map((all) => [
    ...new Set(all),
  ]) as [string[], string[]];
  return {
    sql: `${sql}experiment_id in ${markers(experiments)} and table_id in ${markers(ids)}`,
    values: [...experiments, ...ids].map((value) => ({ type: { kind: 'string' as const }, value })),
  };
};

/** What is said of tables beside their counts. */
async function readDetails(
  warehouse: Warehouse,
  tables: readonly SharedTable[],
  signal?: AbortSignal,
): Promise<{ columns: readonly Row[]; reports: readonly Row[] }> {
  const uploads = tables.filter(({ kind }) => kind === 'upload');
  const read = (sql: string, of: readonly SharedTable[]) => (of.length === 0 ? [] : warehouse.rows(among(sql, of), { signal }));
  const [columns, reports] = await Promise.all([read(COLUMNS, tables), read(REPORTS, uploads)]);
  return { columns, reports };
}

/** How many files of each upload have come to an end there. */
function endedFiles(reports: readonly Reported[]): { uploadId: string; files: number }[] {
  const files = new Map<string, number>();
  for (const { uploadId, status } of reports) if (status !== 'pending') files.set(uploadId, (files.get(uploadId) ?? 0) + 1);
  return [...files].map(([uploadId, count]) => ({ uploadId, files: count }));
}

/** Brings one table up to date, in one transaction. */
async function bring(
  { db }: Pick<ReadBackTools, 'db'>,
  table: SharedTable,
  told: { columns: readonly Row[]; reports: readonly Row[] },
): Promise<{ columns: number; reports: number }> {
  const columns = [...told.columns].sort((a, b) => Number(a['position']) - Number(b['position'])).map(toColumn);
  const reports = told.reports.map(toReport);
  return db.transaction(async (tx) => {
    const { experimentId, kind, identifier, name } = table;
    const own = kind === 'upload' ? { id: identifier, name: name ?? '' } : { identifier };
    const known = (await findTable(tx, experimentId, identifier)) ?? (await createTable(tx, { experimentId, kind, ...own }));
    if (known.identifier !== identifier || known.kind !== kind) throw new Error(`Another table is called ${identifier}.`);
    const now = await lockState(tx, known.id);
    // another process was faster
    if (!now || now.state === table.state) return { columns: 0, reports: 0 };
    const there = new Map((await columnsAt(tx, known.id, now.version)).map((column) => [column.name.toLowerCase(), column]));
    const changed = columns.filter((column) => {
      const before = there.get(column.name.toLowerCase());
      // what messages bring has its type by the messages that came here, where any did
      if (!before || kind !== 'upload') return !before;
      return (
        typeText(before.type) !== typeText(column.type) ||
        before.hasValues !== column.hasValues ||
        before.exactDouble !== column.exactDouble
      );
    });
    if (changed.length > 0) await commit(tx, { tableId: known.id, cause: 'read_back', columns: changed });
    let written = 0;
    if (reports.length > 0) {
      await insertReportedUploads(tx, reports);
      const uploads = await writeReports(tx, reports);
      written = uploads.length;
      if (written > 0) await settleUploads(tx, [...new Set(uploads.map(({ uploadId }) => uploadId))]);
      await noteShared(tx, endedFiles(reports));
    }
    await noteState(tx, { tableId: known.id, rowCount: table.rowCount, state: table.state });
    return { columns: changed.length, reports: written };
  });
}

/** Brings what has changed on Databricks since the last time into Postgres. Tables of experiments that are gone are left where they are. */
export async function readBack({ db, warehouse, log }: ReadBackTools, signal?: AbortSignal): Promise<ReadBack> {
  const done: ReadBack = { tables: 0, failed: 0, columns: 0, reports: 0 };
  const shared = (await warehouse.rows({ sql: COUNTS, values: [] }, { signal })).map(toTable).filter(({ kind }) => KINDS.has(kind));
  const keyOf = ({ experimentId, identifier }: { experimentId: string; identifier: string }) => `${experimentId} ${identifier}`;
  const states = new Map((await listStates(db)).map((row) => [keyOf(row), row.state]));
  const news = shared.filter((table) => states.get(keyOf(table)) !== table.state);
  if (news.length === 0) return done;
  const experiments = new Set(
    (await listExperimentsAmong(db, [...new Set(news.map(({ experimentId }) => experimentId))])).map(({ id }) => id),
  );
  const changed = news.filter(({ experimentId }) => experiments.has(experimentId));
  for (let at = 0; at < changed.length; at += TOGETHER) {
    const batch = changed.slice(at, at + TOGETHER);
    const details = await readDetails(warehouse, batch, signal);
    for (const table of batch) {
      signal?.throwIfAborted();
      done.tables += 1;
      const isOf = (row: Row) => row['table_id'] === table.identifier && row['experiment_id'] === table.experimentId;
      const told = { columns: details.columns.filter(isOf), reports: details.reports.filter(isOf) };
      try {
        const brought = await bring({ db }, table, told);
        done.columns += brought.columns;
        done.reports += brought.reports;
      } catch (error) {
        // one table's fault is no other's; it is tried again the next time
        done.failed += 1;
        log.warn({ err: error, experimentId: table.experimentId, table: table.identifier }, 'a table of Databricks could not be read back');
      }
    }
  }
  return done;
}

/**
 * The same as a watch: nothing to do while tables are local or no look is due, and no failure before the pipeline has made its tables. A statement starts a warehouse and keeps
 * it up for minutes, so one is sent where a landed upload is waited for, and else once in a long while.
 */
export async function readBackChanges(ctx: ReadBackTools & Pick<Context, 'config'>, signal: AbortSignal): Promise<void> {
  const { databricks } = ctx.config;
  if (databricks === undefined || !(await claimLook(ctx.db, databricks.lookMinutes))) return;
  await readBack(ctx, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'WAREHOUSE_TABLE_MISSING')) throw error;
    ctx.log.debug('there are no tables of a pipeline to read back');
  });
}

/** Makes a look due, whatever is waited for: a running service begins it within ten seconds. */
export { dropLook as askForReadBack } from './read-back.queries.ts';
