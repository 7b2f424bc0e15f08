/** Replay: reads the refused records of a file again from its bytes, and stores what can be read now under the ids that it would have had. */
import { join } from 'node:path';
import { errors, isRefusal } from '../../errors.ts';
import { listColumnsAt, commit, listFilesAt, findTable, findTableById, moveSource } from '../../lakehouse/tables/manifest.ts';
import { listPaths, type StagingSession } from '../../lakehouse/tables/staging.ts';
import { setVariable } from '../pipeline.ts';
import { RefusedBefore } from '../record-writer.ts';
import { readSource } from './sources.ts';
import { findOwnSource, hasOtherRows } from './standing.ts';
import type { ColumnReport } from '../typing/decide.ts';
import { explain, fetchOriginal, checkKind, stageRows, useReading, type IngestDeps, type Task } from './rows.ts';
import * as uploads from './uploads.queries.ts';
import type { FileOutcome, UploadFileRow } from './uploads.queries.ts';

/** The report of a file, as it stands. */
const standing = (file: UploadFileRow): FileOutcome => ({ ...file, status: file.status as FileOutcome['status'] });

/** Ends a replay that changed no row. */
export async function leaveReplay(
  { db }: IngestDeps,
  { upload, file }: Pick<Task, 'upload' | 'file'>,
  message = file.message,
): Promise<FileOutcome> {
  const outcome = { ...standing(file), message };
  await db.transaction(async (tx) => {
    await uploads.finishReplay(tx, upload.id, outcome);
    await uploads.sumUpload(tx, upload.id);
  });
  return outcome;
}

/** One report of the records that were stored first and those that came by the replay. */
function joinReports(first: readonly ColumnReport[], then: readonly ColumnReport[]): ColumnReport[] {
  const joined = new Map(first.map((column) => [column.name, column]));
  for (const column of then) {
    const before = joined.get(column.name);
    const sums = before && {
      oddValues: before.oddValues + column.oddValues,
      missingValues: (before.missingValues ?? 0) + (column.missingValues ?? 0),
      oddExamples: before.oddExamples ?? column.oddExamples,
    };
    joined.set(column.name, { ...before, ...column, ...sums });
  }
  return [...joined.values()];
}

/** The refused records of one source, and the quarantine files that hold them. Runs in a session whose `quarantine` variable lists the table's files. */
async function refusedBefore(session: StagingSession, source: string) {
  const found = await session.rows({
    sql: `select fieldlake_row, byte_offset::varchar as byte_offset, filename from read_parquet(getvariable('quarantine'), union_by_name = true, filename = true)
      where starts_with(id, $1)`,
    values: [{ type: { kind: 'string' }, value: source }],
  });
  const files = new Set(found.map(({ filename }) => String(filename)));
  return { rows: new Map(found.map((row) => [Number(row['byte_offset']), String(row['fieldlake_row'])])), files };
}

/** The quarantine files without the refused records of this source, and with those that are refused still. */
const remaining = (quarantinedRecords: string) => `
  select * from read_parquet(getvariable('quarantine'), union_by_name = true) where not starts_with(id, getvariable('source'))
  union all by name ${quarantinedRecords}`;

/**
 * Reads the refused records of one file again. What is readable now is stored, in the transaction that takes it out of the quarantine; every other record of the
 * file is left as it is. Safe to run again, and at the same time elsewhere.
 */
export async function replayFile(deps: IngestDeps, task: Task, signal?: AbortSignal): Promise<FileOutcome> {
  const { db, staging, pipelines } = deps;
  const { upload, file, work } = task;
  const { objectKey, sha256 } = file;
  const table = upload.tableId === null ? undefined : await findTableById(db, upload.tableId);
  if (!table) return leaveReplay(deps, task, errors.tableDeleted().message);
  const quarantine = await findTable(db, upload.experimentId, 'quarantine');
  const sent = { tableId: table.id, sha256: sha256 ?? '', path: file.path, reading: upload.reading };
  const there = await findOwnSource(db, sent, upload.id);
  if (objectKey === null || !quarantine || !there || there.quarantinedCount === 0) return leaveReplay(deps, task);

  const { source } = there;
  const readOtherwise = 'The file was read in another way since then, and its rows are in the table.';
  if (await hasOtherRows(db, sent)) return leaveReplay(deps, task, readOtherwise);

  const live = await listFilesAt(db, quarantine.id, quarantine.version);
  if (live.length === 0) return leaveReplay(deps, task, 'The refused records of this file are not kept any more.');
  const known = await listColumnsAt(db, table.id, table.version);
  return useReading(deps, work, signal, async ({ refusals, ...staged }) => {
    const { session, refusedFile, written } = staged;
    await session.prepare([setVariable('quarantine', listPaths(staging, live))]);
    const before = await refusedBefore(session, source);
    const numbering = new RefusedBefore(before.rows);
    const { reading } = upload;
    const [kind, original] = [checkKind(upload.sourceKind), await fetchOriginal(deps, objectKey, work, signal)];
    const request = { session, kind, original, work, path: file.path, refusals, numbering, exact: true, reading, signal };
    const read = await readSource(deps, request);
    await refusedFile.close();
    if (numbering.passed !== there.rowCount)
      return await leaveReplay(
        deps,
        task,
        'The records of this file are told apart in another way now; send it again, under another name.',
      );
    if (read.rows === 0 && refusals.count === before.rows.size) return await leaveReplay(deps, task);

    const { typed, rows, change } = await stageRows(deps, task, { ...staged, read, source, table, known });
    await session.prepare([setVariable('quarantine', [...before.files]), setVariable('table_id', table.id)]);
    const kept = await session.stage({
      tableId: quarantine.id,
      experimentId: upload.experimentId,
      select: { sql: remaining(pipelines.quarantinedRecords), values: [] },
      sortColumn: 'quarantined_at',
    });
    written.push(kept);

    const stored = file.stored + rows.rowCount;
    const outcome: FileOutcome = {
      ...standing(file),
      stored,
      ...explain(stored, refusals, { ...upload, told: read.told }, typed),
      columns: joinReports(file.columns, typed.report),
    };
    await db.transaction(async (tx) => {
      const from = { rowCount: there.rowCount, quarantinedCount: there.quarantinedCount };
      const to = { rowCount: there.rowCount + rows.rowCount, quarantinedCount: refusals.count };
      if ((await moveSource(tx, table.id, { source, from, to })) === 0) throw errors.sourceChanged();
      if (rows.files.length > 0) await commit(tx, change);
      const retire = live.filter(({ path }) => before.files.has(join(staging.lakeFolder, path))).map(({ id }) => id);
      await commit(tx, { tableId: quarantine.id, cause: 'replace', files: kept.files, retire });
      if (await hasOtherRows(tx, sent)) throw errors.sourceChanged();
      await uploads.finishReplay(tx, upload.id, outcome);
      await uploads.sumUpload(tx, upload.id);
    });
    return outcome;
  }).catch(async (error: unknown) => {
    if (isRefusal(error, 'objectNotFound')) return await leaveReplay(deps, task, 'The bytes of this file are not kept any more.');
    throw error;
  });
}
