/** Says before an upload what it would decide. The files are read as an upload reads them, and nothing of them is kept. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson } from '../../json.ts';
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import type { SourceKind } from '../limits.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import { FileRefused } from '../record-writer.ts';
import type { BronzeField, TextForm } from '../typing/classes.ts';
import type { ColumnReport } from '../typing/decide.ts';
import { printValue } from '../typing/printed-values.ts';
import type { Encoding, ReadingOptions } from '../typing/readings.ts';
import { NotPlain } from './read/json-lines.ts';
import { decideRows, explain, useReading, type Decided, type IngestDeps, type Pass } from './rows.ts';
import { readSource, type BronzeSource } from './sources.ts';
import { findStanding } from './standing.ts';
import type { FileOutcome } from './uploads.queries.ts';

/**
 * How a column fits the table: it has no such column (`new`), its column takes every value (`same`), its column gets a wider type (`widened`), or some values
 * would be kept beside it as text (`odd`).
 */
export type ColumnFit = 'new' | 'same' | 'widened' | 'odd';

/** A value as it was read; `sent` where the file writes it in another way. */
export interface ReadExample {
  row: number;
  value: string;
  sent?: string;
}

export interface ColumnPreview extends ColumnReport {
  fit: ColumnFit;
  /** For delimited text: how most of the column's values are written. */
  form?: TextForm;
  missingMarks: readonly { mark: string; count: number }[];
  examples: readonly ReadExample[];
}

/** How the file as a whole was read. */
export interface FileReading {
  /** Where it is not UTF-8. */
  encoding?: Encoding;
  delimiter?: string;
  decimal?: '.' | ',';
  headerLine?: number;
  /** The line of the row of units below it. */
  unitsLine?: number;
}

/** What would become of a file if it were uploaded. */
export interface FilePreview extends Omit<FileOutcome, 'columns'> {
  columns: readonly ColumnPreview[];
  /** Null where the file was not read. */
  reading: FileReading | null;
  /** Columns of the table that the file does not have. */
  otherColumns: readonly string[];
}

export interface PreviewTask {
  kind: SourceKind;
  /** What the file is called in the upload. */
  path: string;
  /** Its bytes, or the first of them, on this machine. */
  original: string;
  isPart: boolean;
  /** 64 hex digits, of the bytes that are here. */
  sha256: string;
  /** An empty folder, which the caller removes. */
  work: string;
  options: ReadingOptions;
  /** The table, if it is there already. */
  tableId: string | undefined;
  /** Its columns, and those that files before this one would have made. */
  known: readonly ColumnState[];
}

type PreviewDeps = Pick<IngestDeps, 'db' | 'staging' | 'pipelines' | 'maxRecordBytes' | 'parquetExpansion'>;

const BATCH = 100;
const EXAMPLES = 3;
const EXAMPLE_LETTERS = 100;

interface Example {
  /** 12 hex digits. */
  row: string;
  value: string;
}

/** What a look at all rows tells: how many there are, in how many each column has no value, and the first values of each column. */
interface Look extends Pass {
  examples: ReadonlyMap<string, readonly Example[]>;
}

/** Counts the rows of a SELECT and each column's missing values, and collects the first examples. The rows' ids are the places of their records. */
async function lookAtRows(session: StagingSession, sql: string, columns: readonly ColumnState[]): Promise<Look> {
  const described = await session.rows({ sql: `describe ${sql}`, values: [] });
  const held = new Set(described.map(({ column_name: name }) => String(name)));
  const present = columns.filter(({ name }) => held.has(name));
  const nullCounts = new Map<string, number>();
  const examples = new Map<string, readonly Example[]>();
  let rowCount = 0;
  for (let at = 0; at === 0 || at < present.length; at += BATCH) {
    const batch = present.slice(at, at + BATCH);
    const told = batch.map((column, index) => {
      const example = `{ row: id, value: left(${printValue(column, 'date')}, ${EXAMPLE_LETTERS}) }`;
      const name = quoteName(column.name);
      return `, count(${name}) as v${index}, to_json(arg_min(${example}, id, ${EXAMPLES}) filter (where ${name} is not null))::varchar as e${index}`;
    });
    const [row = {}] = await session.rows({ sql: `select count(*) as fieldlake_rows${told.join('')} from (${sql})`, values: [] });
    rowCount = Number(row['fieldlake_rows']);
    batch.forEach(({ name }, index) => {
      nullCounts.set(name, rowCount - Number(row[`v${index}`]));
      examples.set(name, readJson((row[`e${index}`] as string | null) ?? '[]') as Example[]);
    });
  }
  return { rowCount, files: [{ nullCounts }], examples };
}

type SentField = BronzeField & { read: NonNullable<BronzeField['read']> };
const isSent = (field: BronzeField): field is SentField => field.read !== undefined;

/** Fields of delimited text as they were sent, in some records: by record and the field's column. */
async function findSent(
  session: StagingSession,
  fields: readonly SentField[],
  rows: readonly string[],
): Promise<Map<string, Record<string, unknown>>> {
  if (fields.length === 0 || rows.length === 0) return new Map();
  const columns = fields.map(({ read }) => `left(${read.sent}, ${EXAMPLE_LETTERS}) as ${read.sent}`).join(', ');
  const found = await session.rows({
    sql: `select fieldlake_row, ${columns} from bronze_sent where list_contains($1, fieldlake_row)`,
    values: [{ type: { kind: 'string' }, value: rows }],
  });
  return new Map(found.map((row) => [String(row['fieldlake_row']), row]));
}

/** How often each mark stands for a missing value, by the field's column. */
async function countMarks(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly SentField[],
): Promise<Map<string, Record<string, number>>> {
  const marks = new Map<string, Record<string, number>>();
  for (let at = 0; at < fields.length; at += BATCH) {
    const batch = fields.slice(at, at + BATCH);
    const counts = batch.map(
      ({ read }, index) => `to_json(histogram(case when is_missing(${read.sent}) then bare(${read.sent}) end))::varchar as m${index}`,
    );
    const [row = {}] = await session.rows(fill(pipelines.uploadedClasses, { classes: counts.join(', '), limit: '' }));
    batch.forEach(({ column }, index) =>
      marks.set(column, readJson((row[`m${index}`] as string | null) ?? '{}') as Record<string, number>),
    );
  }
  return marks;
}

function fitOf({ widenedFrom, oddValues }: ColumnReport, before: ColumnState | undefined): ColumnFit {
  if (before === undefined) return 'new';
  if (widenedFrom !== undefined) return 'widened';
  return oddValues > 0 ? 'odd' : 'same';
}

/** What the file says of each of its columns beside its report. */
async function describeColumns(
  session: StagingSession,
  pipelines: Pipelines,
  { typed, fields, rows: looked }: Decided<Look>,
  known: readonly ColumnState[],
): Promise<ColumnPreview[]> {
  const { examples } = looked;
  const rows = [...new Set([...examples.values()].flat().map(({ row }) => row))];
  const sent = await findSent(session, fields.filter(isSent), rows);
  const marks = await countMarks(session, pipelines, fields.filter(isSent));
  const before = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  return typed.report.map((line, at): ColumnPreview => {
    const field = fields[at];
    const told = (examples.get(line.name) ?? []).map(({ row, value }): ReadExample => {
      const as = field?.read && sent.get(row)?.[field.read.sent];
      return { row: parseInt(row, 16) + 1, value, ...(typeof as === 'string' && as !== value ? { sent: as } : {}) };
    });
    const missingMarks = Object.entries((field && marks.get(field.column)) ?? {}).map(([mark, count]) => ({ mark, count }));
    return {
      ...line,
      fit: fitOf(line, before.get(line.name.toLowerCase())),
      ...(field?.read ? { form: field.read.reading.form } : {}),
      missingMarks: missingMarks.sort((a, b) => b.count - a.count || (a.mark < b.mark ? -1 : 1)),
      examples: told,
    };
  });
}

/** Describes how a delimited file was read; a file of another kind says all of this itself. */
function describeReading(
  kind: SourceKind,
  { text, headerLine, unitsLine, encoding }: BronzeSource,
  { fields }: Decided<Look>,
): FileReading {
  if (!text) return {};
  const lines = { ...(headerLine === undefined ? {} : { headerLine }), ...(unitsLine === undefined ? {} : { unitsLine }) };
  // the delimiters of a sheet's text come from us, not from the file
  if (kind === 'xlsx') return lines;
  const forms = new Set(fields.map(({ read }) => read?.reading.form));
  return {
    ...(encoding === undefined || encoding === 'utf-8' ? {} : { encoding }),
    delimiter: text.delimiter,
    ...(forms.has('comma') ? { decimal: ',' as const } : forms.has('plain') ? { decimal: '.' as const } : {}),
    ...lines,
  };
}

/** The columns that the table would have after a file. */
function joinColumns(known: readonly ColumnState[], columns: readonly ColumnState[]): ColumnState[] {
  const joined = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  for (const column of columns) {
    const before = joined.get(column.name.toLowerCase());
    joined.set(column.name.toLowerCase(), before ? { ...column, name: before.name, originalKey: before.originalKey } : column);
  }
  return [...joined.values()];
}

interface Previewed {
  file: FilePreview;
  /** The columns that the table would have afterwards. */
  columns: readonly ColumnState[];
}

const nothing = { stored: 0, quarantined: 0, alreadyThere: 0, reason: null, message: null, columns: [], reading: null, otherColumns: [] };

/** The preview of a file of which nothing could be stored. */
export const describeRefused = (path: string, { reason, message }: FileRefused): FilePreview => ({
  ...nothing,
  path,
  status: 'failed',
  reason,
  message,
});

async function attempt(deps: PreviewDeps, task: PreviewTask, exact: boolean, signal?: AbortSignal): Promise<Previewed> {
  const { pipelines } = deps;
  const { kind, path, original, isPart, options, known } = task;
  const work = join(task.work, exact ? 'exact' : 'first');
  await mkdir(work, { mode: 0o700 });
  return useReading(deps, work, signal, async ({ session, refusals }) => {
    await session.prepare([
      // with an empty source a row's id is the number of its record
      setVariable('source', ''),
      ...['uploaded_at', 'experiment_id', 'upload_id', 'contributor_id'].map((name) => setVariable(name, null)),
    ]);
    const request = { session, kind, original, work, path, refusals, exact, reading: options, isPart, signal };
    const read = await readSource(deps, request);
    const decided = await decideRows(pipelines, { session, read, kind, known, options }, (sql, columns) =>
      lookAtRows(session, sql, columns),
    );
    const { rowCount } = decided.rows;
    const columns = await describeColumns(session, pipelines, decided, known);
    const named = new Set(decided.typed.columns.map(({ name }) => name.toLowerCase()));
    return {
      file: {
        ...{
          path,
          stored: rowCount,
          alreadyThere: 0,
          ...explain(rowCount, refusals, { sourceKind: kind, reading: options, told: read.told }, decided.typed),
          columns,
        },
        reading: describeReading(kind, read, decided),
        otherColumns: known.map(({ name }) => name).filter((name) => !named.has(name.toLowerCase())),
      },
      columns: joinColumns(known, decided.typed.columns),
    };
  });
}

/**
 * Says what an upload of a file, or of its beginning, into the table would decide of each column. Where the whole file is there, the report of the upload will
 * say the same, as long as the table stays as it is. Writes only to the folder of the task. A file that cannot be read is answered as one that failed; other
 * errors are thrown.
 */
export async function previewFile(deps: PreviewDeps, task: PreviewTask, signal?: AbortSignal): Promise<Previewed> {
  const { path, isPart, sha256, tableId, known, options } = task;
  const standing = tableId === undefined || isPart ? undefined : await findStanding(deps.db, { tableId, sha256, path, reading: options });
  if (standing && !('source' in standing)) return { file: { ...nothing, path, ...standing }, columns: known };
  try {
    return await attempt(deps, task, false, signal).catch((error: unknown) => {
      if (error instanceof NotPlain) return attempt(deps, task, true, signal);
      throw error;
    });
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    return { file: describeRefused(path, error), columns: known };
  }
}
