/** The rows of one batch of messages → staged files of raw_data, the device table and the macro tables. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fixedColumns } from '../lakehouse/catalog.ts';
import { columnsAt, commit, createTable, filesAt, findTable, fingerprint, knownSources, type ColumnState } from '../lakehouse/manifest.ts';
import { quote, type StagingArea, type StagingSession } from '../lakehouse/staging.ts';
import type { Staged } from '../lakehouse/warehouse.ts';
import { errors } from '../errors.ts';
import { stageChanges } from './annotation-log.ts';
import { nameColumns, OWN_NAMES, type NamedColumn, type NameRules } from './columns.ts';
import { macroSource, outputTokens, rowId, type MacroResult, type MeasurementRow } from './measurements.ts';
import { nextAnnotationChange, type Database, type Transaction } from './messages.queries.ts';
import { fill, variable, type Pipelines } from './pipeline.ts';
import { BufferedFile } from './record-writer.ts';
import { openRecords } from './sources.ts';
import { typeFile, type BronzeField } from './typing.ts';

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

type Cells = readonly (string | null)[];

/** Writes one file of text cells, and names it `bronze_records`. The first cell is `fieldlake_row`. */
async function records({ session, pipelines, work }: Batch, columns: readonly string[], rows: Iterable<Cells>): Promise<void> {
  const file = await BufferedFile.create(join(work, randomUUID()));
  try {
    for (const row of rows) {
      row.forEach((cell, at) => {
        if (at > 0) file.byte(0x2c);
        if (cell !== null) file.quoted(cell);
      });
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
  });
}

const number = (value: number | null) => (value === null ? null : String(value));
const clean = (value: string | null) => value?.replaceAll('\0', '\ufffd') ?? null;

const FACTS = [
  'measured_at',
  'device_id',
  'device_name',
  'timezone',
  'latitude',
  'longitude',
  'workbook_run_id',
  'contributor_id',
  'client_id',
  'processed_at',
] as const;
const factsOf = ({ facts, contributorId, clientId, processedAt }: MeasurementRow): Cells => [
  facts.timestamp,
  clean(facts.deviceId),
  clean(facts.deviceName),
  clean(facts.timezone),
  number(facts.latitude),
  number(facts.longitude),
  clean(facts.workbookRunId),
  contributorId,
  clean(clientId),
  processedAt,
];

/** A table by its identifier, or a new one that comes to be in the commit. */
async function openTable(batch: Batch, kind: 'raw_data' | 'device' | 'macro', identifier: string) {
  const { db, experimentId } = batch;
  const found = await findTable(db, experimentId, identifier);
  const id = found?.id ?? randomUUID();
  const known = found ? await columnsAt(db, id, found.version) : [];
  const ensure = async (tx: Transaction) => {
    const made = await createTable(tx, { experimentId, kind, identifier, id });
    if (made.id !== id) throw errors.sourceChanged();
  };
  return { id, version: found?.version ?? 0, known, ensure };
}

/** What a question's column is: text, whatever is answered, so that no later answer is odd. */
const questionColumn = (name: string, label: string): ColumnState => ({
  name,
  type: { kind: 'string' },
  origin: 'question',
  originalKey: label === name ? undefined : label,
  nullable: true,
  hasValues: true,
  exactDouble: true,
});

/** Stages the measurements; `sources` are claimed for them in the commit. */
export async function prepareMeasurements(
  batch: Batch,
  rows: readonly MeasurementRow[],
  sources: ReadonlyMap<string, number>,
): Promise<Prepared> {
  const { session, pipelines, experimentId } = batch;
  const table = await openTable(batch, 'raw_data', 'raw_data');
  const labels = new Map<string, string>();
  for (const { answers } of rows)
    for (const { column, label, text } of answers) if (text !== null && !labels.has(column)) labels.set(column, label);
  const columns = [...labels.keys()];
  const own = ['macros', 'protocol_id', 'data', 'device_row', 'device_firmware', 'device_version', 'device_battery'];
  await records(
    batch,
    [...FACTS, ...own, ...columns.map((_, at) => `c${at + 1}`)],
    (function* () {
      for (const row of rows) {
        const { facts } = row;
        const answers = new Map(row.answers.map(({ column, text }) => [column, text]));
        yield [
          row.id,
          ...factsOf(row),
          ...[clean(row.macros), clean(facts.protocolId), row.data, row.deviceRow, clean(facts.deviceFirmware), clean(facts.deviceVersion)],
          number(facts.deviceBattery),
          ...columns.map((column) => answers.get(column) ?? null),
        ];
      }
    })(),
  );
  await session.prepare([variable('experiment_id', experimentId)]);
  const questions = columns.map((name, at) => `, c${at + 1} as ${quote(name)}`).join('');
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: fill(pipelines.measurementRows, { questions }),
    sortColumn: 'timestamp',
  });
  if (staged.rowCount !== rows.length) throw new Error(`the engine read ${staged.rowCount} of ${rows.length} measurements`);
  return {
    staged,
    commit: async (tx) => {
      await table.ensure(tx);
      const claimed = [...sources].map(([source, rowCount]) => ({ source, rowCount, quarantinedCount: 0 }));
      const { added } = await commit(tx, {
        tableId: table.id,
        cause: 'ingest',
        files: staged.files,
        columns: [...labels].map(([name, label]) => questionColumn(name, label)),
        typedBy: fingerprint(table.known),
        sources: claimed,
      });
      if (!added) throw errors.sourceChanged();
    },
  };
}

/** Stages the device table anew, from what it holds and the measurements that `prepareMeasurements` has just read. */
export async function prepareDevices(batch: Batch): Promise<Prepared> {
  const { db, session, pipelines, experimentId, staging } = batch;
  const table = await openTable(batch, 'device', 'device');
  const files = await filesAt(db, table.id, table.version);
  await session.prepare([
    {
      sql: 'set variable devices = $1',
      values: [{ type: { kind: 'string' }, value: files.map(({ path }) => join(staging.lakeFolder, path)) }],
    },
  ]);
  const known =
    files.length === 0
      ? 'select null::varchar as id where false'
      : `select id, device_id, client_id, device_firmware, device_name, device_version, device_battery, total_measurements, processed_timestamp, last_measured_at
         from read_parquet(getvariable('devices'), union_by_name = true, hive_partitioning = false)`;
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: fill(pipelines.deviceRows, { known }),
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

const RULES: NameRules = { reserved: new Set([...fixedColumns('macro').map(({ name }) => name), ...OWN_NAMES]), prefix: 'output_' };

/** Names for the keys of outputs: a key goes where it went before, a new one where nothing is yet. */
function nameOutputs(keys: readonly string[], known: readonly ColumnState[]): NamedColumn[] {
  const before = new Map(known.map(({ name, originalKey }) => [originalKey ?? name, name]));
  const isKnown = (key: string) => before.has(key) && (!key.toLowerCase().endsWith('__text') || before.get(key) !== key);
  const taken = new Set(known.map(({ name }) => name.toLowerCase()));
  const fresh = new Map(
    nameColumns(
      keys.filter((key) => !isKnown(key)),
      RULES,
      taken,
    ).map((named) => [named.key, named]),
  );
  return keys.map((key) => (isKnown(key) ? { key, name: before.get(key) ?? key } : (fresh.get(key) ?? { key, name: key })));
}

interface Delivered {
  row: MeasurementRow;
  result: MacroResult;
  source: string;
}

/** Stages the rows of one macro's table; undefined when every one of them is there already. */
async function prepareMacro(batch: Batch, macroId: string, all: readonly Delivered[]): Promise<Prepared | undefined> {
  const { db, session, pipelines, experimentId } = batch;
  const table = await openTable(batch, 'macro', macroId);
  const there = new Set(
    (
      await knownSources(
        db,
        table.id,
        all.map(({ source }) => source),
      )
    ).map(({ source }) => source),
  );
  const delivered = [...new Map(all.filter(({ source }) => !there.has(source)).map((each) => [each.source, each])).values()];
  if (delivered.length === 0) return undefined;
  const tokens = delivered.map(
    ({ result }) => new Map(outputTokens(result).map(([key, token]) => [key.toWellFormed().replaceAll('\0', '\ufffd'), token])),
  );
  const keys = [...new Set(tokens.flatMap((cells) => [...cells.keys()]))];
  const own = ['raw_id', 'macro_name', 'macro_filename', 'macro_error'];
  await records(
    batch,
    [...FACTS, ...own, ...keys.map((_, at) => `c${at + 1}`)],
    (function* () {
      for (const [at, { row, result, source }] of delivered.entries())
        yield [
          rowId(source, 0),
          ...factsOf(row),
          ...[row.id, clean(result.name), clean(result.filename), clean(result.error)],
          ...keys.map((key) => tokens[at]?.get(key) ?? null),
        ];
    })(),
  );
  const fields = keys.map((key, at): BronzeField => ({ key, column: `c${at + 1}`, form: 'token' }));
  const typed = await typeFile(session, pipelines, fields, table.known, { origin: 'output', names: nameOutputs(keys, table.known) });
  await session.prepare([variable('macro_id', macroId)]);
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: fill(pipelines.macroRows, { values: typed.values === '' ? '' : `, ${typed.values}` }),
    sortColumn: 'timestamp',
  });
  if (staged.rowCount !== delivered.length) throw new Error(`the engine read ${staged.rowCount} of ${delivered.length} macro rows`);
  return {
    staged,
    commit: async (tx) => {
      await table.ensure(tx);
      const sources = delivered.map(({ source }) => ({ source, rowCount: 1, quarantinedCount: 0 }));
      const change = {
        tableId: table.id,
        cause: 'ingest' as const,
        files: staged.files,
        columns: typed.columns,
        typedBy: fingerprint(table.known),
        sources,
      };
      if (!(await commit(tx, change)).added) throw errors.sourceChanged();
    },
  };
}

/** Stages what macros delivered with the measurements, each macro into a table of its own. */
export async function prepareMacros(batch: Batch, rows: readonly MeasurementRow[]): Promise<Prepared[]> {
  const byMacro = new Map<string, Delivered[]>();
  for (const row of rows)
    for (const result of row.results) {
      const list = byMacro.get(result.macroId) ?? [];
      list.push({ row, result, source: macroSource(row.id, result.macroId) });
      byMacro.set(result.macroId, list);
    }
  const prepared: Prepared[] = [];
  for (const [macroId, delivered] of [...byMacro].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const one = await prepareMacro(batch, macroId, delivered);
    if (one) prepared.push(one);
  }
  return prepared;
}

/** Stages the annotations that the messages brought, for the annotation log: at most one file. */
export async function prepareAnnotations({ db, staging, experimentId }: Batch, rows: readonly MeasurementRow[]): Promise<Prepared[]> {
  const brought = rows.flatMap(({ annotations }) => annotations);
  if (brought.length === 0) return [];
  const sequence = await nextAnnotationChange(db);
  const changes = brought.map((one) => ({ ...one, tableId: 'raw_data', sequence, deleted: false }));
  const staged = await stageChanges({ db, staging }, experimentId, changes);
  const { tableId, files } = staged;
  const put = async (tx: Transaction) => {
    await commit(tx, { tableId, cause: 'ingest', files });
  };
  return [{ staged, commit: put }];
}
