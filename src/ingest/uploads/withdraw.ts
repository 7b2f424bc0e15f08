/** Takes what came by an upload out of the lake again: its rows, its refused records, and the columns that no other row has a value of. */
import {
  commit,
  findTable,
  findTableById,
  forgetSources,
  listColumnsAt,
  listColumnsSince,
  listFilesAt,
  type Commit,
} from '../../lakehouse/tables/manifest.ts';
import type { LakeFile, LakeTable } from '../../lakehouse/tables/manifest-rows.ts';
import { removeUnlessCommitted, retryUnchanged } from '../../lakehouse/tables/attempts.ts';
import { areInOrder, findHolding, setFilesVariable, splitFiles, writeSelect } from '../../lakehouse/tables/rewriting.ts';
import { listPaths, useSession, type StagingSession } from '../../lakehouse/tables/staging.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { setVariable } from '../pipeline.ts';
import { printUploadedAt, type IngestDeps } from './rows.ts';
import { findOwnSource } from './standing.ts';
import * as uploads from './uploads.queries.ts';
import type { UploadFileRow, UploadRow } from './uploads.queries.ts';

const TRIES = 20;
const OTHERS = `upload_id is distinct from getvariable('upload_id')`;

interface Withdrawal {
  deps: IngestDeps;
  session: StagingSession;
  upload: UploadRow;
  files: readonly UploadFileRow[];
  /** Takes the files that are staged. */
  written: Staged[];
  signal: AbortSignal | undefined;
}

/** Counts the rows of the upload in each of the files that can have some, by absolute path. */
async function countOwn({ deps, session, upload, files }: Withdrawal, { id, version }: LakeTable): Promise<Map<string, number>> {
  const ordinals = files.map(({ ordinal }) => ordinal);
  // the sort column of both tables has the moment of the upload, in each of its rows
  const range = {
    from: printUploadedAt(upload.createdAt, Math.min(...ordinals)),
    to: printUploadedAt(upload.createdAt, Math.max(...ordinals)),
  };
  const near = ordinals.length === 0 ? [] : await listFilesAt(deps.db, id, version, range);
  if (near.length === 0) return new Map();
  await session.prepare([setFilesVariable(listPaths(deps.staging, near))]);
  const counted = await session.rows({
    sql: `select filename, count(*)::varchar as own from read_parquet(getvariable('files'), union_by_name = true, filename = true, hive_partitioning = false)
      where not (${OTHERS}) group by filename`,
    values: [],
  });
  return new Map(counted.map(({ filename, own }) => [String(filename), Number(own)]));
}

/** Finds the columns that came with the upload, and of which no other row of the table has a value. */
async function findForsaken({ deps, session, upload }: Withdrawal, { id, version }: LakeTable): Promise<string[]> {
  const came = await listColumnsSince(deps.db, id, upload.createdAt);
  const holding = await findHolding({ ...deps, session }, { id, version }, came);
  if (holding.size === 0) return [];
  await session.prepare([setFilesVariable([...holding.keys()])]);
  const held = new Set(
    (await session.rows({ sql: `select distinct name from parquet_schema(getvariable('files'))`, values: [] })).map(({ name }) =>
      String(name),
    ),
  );
  const asked = came.filter((name) => held.has(name));
  const counts = asked.map((name, at) => `count(${quoteName(name)})::varchar as c${at}`).join(', ');
  const [found = {}] = await session.rows({
    sql: `select ${counts} from read_parquet(getvariable('files'), union_by_name = true, hive_partitioning = false) where ${OTHERS}`,
    values: [],
  });
  return asked.filter((_name, at) => found[`c${at}`] === '0');
}

/** Stages the rows of others in the files that hold rows of the upload, or forsaken columns. Undefined when the table has nothing of it. */
async function leaveOut(withdrawal: Withdrawal, table: LakeTable): Promise<Commit | undefined> {
  const { deps, session, written, signal } = withdrawal;
  const own = await countOwn(withdrawal, table);
  if (own.size === 0) return undefined;
  const dropped = await findForsaken(withdrawal, table);
  const holding = await findHolding({ ...deps, session }, table, dropped);
  const files = new Map<string, LakeFile>();
  for (const file of await listFilesAt(deps.db, table.id, table.version)) {
    const [path = ''] = listPaths(deps.staging, [file]);
    if (own.has(path) || holding.has(path)) files.set(path, file);
  }
  const known = await listColumnsAt(deps.db, table.id, table.version);
  const names = new Set(dropped);
  // a column that is to go is there for sure, also in files that do not have it
  const columns = known.map((column) => (names.has(column.name) ? { ...column, hasValues: true } : column));
  const exclude = dropped.length === 0 ? '' : ` exclude (${dropped.map(quoteName).join(', ')})`;
  const sql = `select *${exclude} from (${writeSelect(columns, OTHERS)})`;
  const left = new Map([...files].filter(([path, { rowCount }]) => rowCount > (own.get(path) ?? 0)));
  const staged: Staged[] = [];
  for (const { paths, rows } of splitFiles(left)) {
    signal?.throwIfAborted();
    await session.prepare([setFilesVariable(paths)]);
    const sorted = areInOrder(paths.flatMap((path) => left.get(path) ?? []));
    const sortColumn = table.kind === 'quarantine' ? 'quarantined_at' : 'uploaded_at';
    const { id: tableId, experimentId } = table;
    const part = await session.stage({ tableId, experimentId, select: { sql, values: [] }, sortColumn, sorted });
    written.push(part);
    staged.push(part);
    const expected = rows - paths.reduce((sum, path) => sum + (own.get(path) ?? 0), 0);
    if (part.rowCount !== expected) throw new Error(`the engine wrote ${part.rowCount} of ${expected} rows of ${table.id}`);
  }
  const retire = [...files.values()].map(({ id }) => id);
  return { tableId: table.id, cause: 'erase', basedOn: table.version, files: staged.flatMap((each) => each.files), retire, dropped };
}

/** The identities under which the upload has stored rows or set records aside. */
async function listOwnSources({ db }: IngestDeps, { id, tableId, reading }: UploadRow, files: readonly UploadFileRow[]): Promise<string[]> {
  const sources: string[] = [];
  for (const { path, sha256, alreadyThere } of files) {
    if (tableId === null || sha256 === null || alreadyThere > 0) continue;
    const own = await findOwnSource(db, { tableId, sha256, path, reading }, id);
    if (own) sources.push(own.source);
  }
  return sources;
}

async function attempt(deps: IngestDeps, upload: UploadRow, signal?: AbortSignal): Promise<void> {
  const { db, staging } = deps;
  const table = upload.tableId === null ? undefined : await findTableById(db, upload.tableId);
  const quarantine = await findTable(db, upload.experimentId, 'quarantine');
  const tables = [table, quarantine].filter((each) => each !== undefined);
  const files = await uploads.listUploadFiles(db, upload.id);
  const sources = await listOwnSources(deps, upload, files);
  const written: Staged[] = [];
  const withdraw = async (session: StagingSession) => {
    await session.prepare([setVariable('upload_id', upload.id)]);
    const changes: (Commit | undefined)[] = [];
    for (const each of tables) changes.push(await leaveOut({ deps, session, upload, files, written, signal }, each));
    await db.transaction(async (tx) => {
      for (const change of changes) if (change) await commit(tx, change);
      for (const { id } of tables) await forgetSources(tx, id, sources);
      await uploads.finishWithdrawal(tx, upload.id);
    });
  };
  await removeUnlessCommitted(deps, written, () => useSession(staging, { signal }, withdraw));
}

/**
 * Takes what came by an upload out of its table and out of the quarantine, in one version of each. Earlier versions keep it as long as they are kept, and the
 * same files are new when they come again. Safe to run again after a crash at any moment. Errors: sourceChanged when the table never stands still.
 */
export const withdrawUpload = (deps: IngestDeps, upload: UploadRow, signal?: AbortSignal): Promise<void> =>
  retryUnchanged(TRIES, () => attempt(deps, upload, signal));
