/** The rows of one batch of messages → staged files of raw_data and the device table. */
import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { join } from 'node:path';
import {
  listColumnsAt,
  commit,
  createTable,
  listFilesAt,
  findTable,
  printFingerprint,
  type ColumnState,
  type NewSource,
} from '../../lakehouse/tables/manifest.ts';
import { listPaths, type StagingArea, type StagingSession } from '../../lakehouse/tables/staging.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { errors } from '../../errors.ts';
import { stageChanges } from '../annotation-log.ts';
import { DEVICE_COLUMNS, printDevices } from './devices.ts';
import type { Answer } from './questions.ts';
import type { MeasurementRow } from './rows.ts';
import { findNextAnnotationChange, type Database, type Transaction } from './messages.queries.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import { FACT_COLUMNS, writeCells, type MeasuredFacts } from './cells.ts';
import { BufferedFile, RARE_QUOTE } from '../record-writer.ts';
import { openRecords } from '../uploads/sources.ts';

export interface Batch {
  db: Database;
  staging: StagingArea;
  pipelines: Pipelines;
  session: StagingSession;
  experimentId: string;
  /** Folder of this try. */
  work: string;
}

/** Files that wait for the commit, and how to commit them. */
export interface Prepared {
  staged: Staged;
  commit: (tx: Transaction) => Promise<void>;
}

export type Cells = readonly (string | null)[];

/** Keeps the records in a table, so that the engine reads their text only once. */
const KEPT = [
  'create or replace temp table kept_records as select * from bronze_records',
  'create or replace temp view bronze_records as select * from kept_records',
];

/** Writes one file of text cells, and makes the view `bronze_records` of it. The first cell is `fieldlake_row`. */
async function records({ session, pipelines, work }: Batch, columns: readonly string[], rows: Iterable<Cells>): Promise<void> {
  const file = await BufferedFile.create(join(work, randomUUID()));
  try {
    for (const row of rows) {
      for (let at = 0; at < row.length; at += 1) {
        if (at > 0) file.byte(0x2c);
        const cell = row[at] ?? null;
        if (cell !== null) file.rarelyQuoted(cell);
      }
      file.byte(0x0a);
      if (file.full) await file.drain();
    }
  } finally {
    await file.close();
  }
  await openRecords(session, pipelines, {
    path: file.path,
    fields: columns.map((column) => ({ column })),
    delimiter: ',',
    multiline: true,
    quote: RARE_QUOTE,
  });
}

/** Writes records as `records` does, and keeps them in a table for steps that look at them more than once. */
export async function keepRecords(batch: Batch, columns: readonly string[], rows: Iterable<Cells>): Promise<void> {
  await records(batch, columns, rows);
  await batch.session.prepare(KEPT.map((sql) => ({ sql, values: [] })));
}

export const FACTS = FACT_COLUMNS.map(({ name }) => name);

export const printFacts = (row: MeasuredFacts): Cells => FACT_COLUMNS.map(({ of }) => of(row));

/** Finds a table by its identifier, or plans a new one with `newId`, which `ensure` makes in the commit. */
export async function openTable(
  { db, experimentId }: Pick<Batch, 'db' | 'experimentId'>,
  kind: 'raw_data' | 'device' | 'macro',
  identifier: string,
  newId: string = randomUUIDv7(),
) {
  const found = await findTable(db, experimentId, identifier);
  const id = found?.id ?? newId;
  const known = found ? await listColumnsAt(db, id, found.version) : [];
  const ensure = async (tx: Transaction) => {
    if (found) return;
    const made = await createTable(tx, { experimentId, kind, identifier, id });
    if (made.id !== id) throw errors.sourceChanged();
  };
  return { id, version: found?.version ?? 0, known, ensure };
}

/** Makes the column of a question. It is text, whatever is answered, so that no later answer is odd. */
export const makeQuestionColumn = (name: string, label: string): ColumnState => ({
  name,
  type: { kind: 'string' },
  origin: 'question',
  originalKey: label === name ? undefined : label,
  nullable: true,
  hasValues: true,
  exactDouble: true,
});

/** Lists the questions that rows have answers to, by their column, with the label that came first. */
export function listLabels(rows: readonly { answers: readonly Answer[] }[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const { answers } of rows)
    for (const { column, label, text } of answers) if (text !== null && !labels.has(column)) labels.set(column, label);
  return labels;
}

/** Stages measurements as rows of raw_data, and answers the columns that their answers need. */
export async function stageMeasurements(batch: Batch, tableId: string, rows: readonly MeasurementRow[]) {
  const { session, pipelines, experimentId } = batch;
  const labels = listLabels(rows);
  const names = [...labels.keys()];
  const { path, columns, absent } = await writeCells(batch.work, rows, names);
  await openRecords(session, pipelines, {
    ...{ path, absent, delimiter: ',', multiline: true, quote: RARE_QUOTE },
    fields: columns.map((column) => ({ column })),
  });
  await session.prepare([setVariable('experiment_id', experimentId)]);
  const questions = names.map((name, at) => `, c${at + 1} as ${quoteName(name)}`).join('');
  const select = fill(pipelines.measurementRows, { questions });
  const staged = await session.stage({ tableId, experimentId, select, sortColumn: 'timestamp' });
  if (staged.rowCount !== rows.length) throw new Error(`the engine read ${staged.rowCount} of ${rows.length} measurements`);
  return { staged, columns: [...labels].map(([name, label]) => makeQuestionColumn(name, label)) };
}

/** Stages the measurements; `sources` are claimed for them in the commit. `newId`: for the table where it is not there yet. */
export async function prepareMeasurements(
  batch: Batch,
  rows: readonly MeasurementRow[],
  { sources, newId }: { sources: readonly NewSource[]; newId: string | undefined },
): Promise<Prepared> {
  const table = await openTable(batch, 'raw_data', 'raw_data', newId);
  const { staged, columns } = await stageMeasurements(batch, table.id, rows);
  return {
    staged,
    commit: async (tx) => {
      await table.ensure(tx);
      const change = {
        tableId: table.id,
        cause: 'ingest' as const,
        files: staged.files,
        columns,
        typedBy: printFingerprint(table.known),
        sources,
        onlyNew: true,
      };
      if (!(await commit(tx, change)).added) throw errors.sourceChanged();
    },
  };
}

/** Stages the device table anew, from what it holds and from what the devices of these measurements said, in the session that has staged the measurements. */
export async function prepareDevices(batch: Batch, rows: readonly MeasurementRow[]): Promise<Prepared> {
  const { db, session, pipelines, experimentId, staging } = batch;
  const table = await openTable(batch, 'device', 'device');
  const files = await listFilesAt(db, table.id, table.version);
  await records(batch, DEVICE_COLUMNS, printDevices(rows));
  await session.prepare([setVariable('devices', listPaths(staging, files))]);
  const known =
    files.length === 0
      ? 'select null::varchar as id where false'
      : `select id, device_id, case when not starts_with(client_id, 'u-') then client_id end as client_id, device_firmware, device_name, device_version, device_battery,
           total_measurements, processed_timestamp, last_measured_at
         from read_parquet(getvariable('devices'), union_by_name = true, hive_partitioning = false)`;
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: fill(pipelines.deviceRows, { known, measurements: 'measurements' }),
    sortColumn: 'processed_timestamp',
  });
  return {
    staged,
    commit: async (tx) => {
      await table.ensure(tx);
      await commit(tx, { tableId: table.id, cause: 'replace', files: staged.files, retire: files.map(({ id }) => id) });
    },
  };
}

/** Stages the annotations that the messages brought, for the annotation log: at most one file. */
export async function prepareAnnotations({ db, staging, experimentId }: Batch, rows: readonly MeasurementRow[]): Promise<Prepared[]> {
  const brought = rows.flatMap(({ annotations }) => annotations);
  if (brought.length === 0) return [];
  const sequence = await findNextAnnotationChange(db);
  const changes = brought.map((one) => ({ ...one, tableId: 'raw_data', sequence, deleted: false }));
  const staged = await stageChanges({ db, staging }, experimentId, changes);
  const { tableId, files } = staged;
  const put = async (tx: Transaction) => {
    await commit(tx, { tableId, cause: 'ingest', files });
  };
  return [{ staged, commit: put }];
}
