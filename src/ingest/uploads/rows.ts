/** What every reading of an uploaded file has in common: its bytes, its identity, its typed rows and its refused records. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { printFingerprint, type ColumnState, type Commit } from '../../lakehouse/tables/manifest.ts';
import type { LakeTable } from '../../lakehouse/tables/manifest-rows.ts';
import { changeWith, widenFiles } from '../../lakehouse/tables/rewriting.ts';
import { removeUnlessCommitted } from '../../lakehouse/tables/attempts.ts';
import { useSession, type StagingArea, type StagingSession } from '../../lakehouse/tables/staging.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import type { ObjectStore } from '../../storage/objects.ts';
import { SOURCE_KINDS, type SourceKind } from '../limits.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import { BufferedFile, Refusals, type RefusalReason } from '../record-writer.ts';
import { refuseIfToBlame, refuseUnreadable } from './read/parquet.ts';
import type { BronzeSource, ReadDeps } from './sources.ts';
import { NotPlain } from './read/json-lines.ts';
import { leaveColumns } from './left-out.ts';
import { readText, type ReadingOptions } from '../typing/readings.ts';
import type { BronzeField } from '../typing/classes.ts';
import { DISAGREES, decideTypesAsBegun } from '../typing/first-records.ts';
import { decideLineTypes } from './type-lines.ts';
import { decideFileTypes, type TypedFile } from '../typing/decide.ts';
import type { Database, FileOutcome, UploadFileRow, UploadRow } from './uploads.queries.ts';

export interface IngestDeps extends ReadDeps {
  db: Database;
  store: ObjectStore;
  staging: StagingArea;
  /** Told what happened to a file that could not be read for a reason of ours. */
  log?: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface Task {
  upload: UploadRow;
  file: UploadFileRow;
  /** Folder of this try; removed by the caller. */
  work: string;
  /** JSON is read the long way. */
  exact?: boolean;
}

export function checkKind(kind: string): SourceKind {
  const found = SOURCE_KINDS.find((each) => each === kind);
  if (!found) throw new Error(`unknown source kind ${kind}`);
  return found;
}

/** Brings the bytes of an object to this machine. Answers their path. */
export async function fetchOriginal({ store }: IngestDeps, objectKey: string, work: string, signal?: AbortSignal): Promise<string> {
  const original = join(work, 'original');
  await pipeline(Readable.from(await store.get(objectKey)), createWriteStream(original), { signal });
  return original;
}

/** What the reading of one file works with. */
interface FileReading {
  session: StagingSession;
  refusals: Refusals;
  /** The list of refused records, which is read once it is closed. */
  refusedFile: BufferedFile;
  /** Takes the files that are staged. They are removed when the reading fails. */
  written: (Staged | undefined)[];
}

/** Reads a file in a session of its own, with a list of the records that it refuses in the folder `work`. */
export async function useReading<T>(
  deps: Pick<IngestDeps, 'db' | 'staging'>,
  work: string,
  signal: AbortSignal | undefined,
  read: (reading: FileReading) => Promise<T>,
): Promise<T> {
  const refusedFile = await BufferedFile.create(join(work, 'refused'));
  const written: FileReading['written'] = [];
  try {
    return await removeUnlessCommitted(deps, written, () =>
      useSession(deps.staging, { signal }, (session) => read({ session, refusals: new Refusals(refusedFile), refusedFile, written })),
    );
  } finally {
    await refusedFile.close().catch(() => undefined);
  }
}

/** Asks for the long way, which may take what the engine's JSON reader refuses, such as a key that comes twice. */
function orNotPlain(cause: unknown): never {
  if ((cause as Error).name === 'AbortError') throw cause;
  throw new NotPlain('the engine did not read the lines', { cause });
}

/** Answers undefined when a pass ended because a value is not as the first ones of its column. Nothing was stored then. */
function unlessDisagreeing(cause: unknown): undefined {
  if (!(cause as Error).message.includes(DISAGREES)) throw cause;
}

/** What a pass over all rows of a file tells: how many there are, and in how many each column has no value. */
export interface Pass {
  rowCount: number;
  files: readonly { nullCounts: ReadonlyMap<string, number> }[];
}

export interface RecordsOf {
  session: StagingSession;
  read: BronzeSource;
  kind: SourceKind;
  known: readonly ColumnState[];
  options: ReadingOptions;
}

/** The types of a file's columns, how each field was read, and what the pass over its rows told. */
export interface Decided<Passed> {
  typed: TypedFile;
  fields: readonly BronzeField[];
  rows: Passed;
}

/**
 * Types `bronze_records`, and reads every row by `pass`, which gets the SELECT of the rows and their columns. Throws NotPlain when JSON has to be read the long
 * way.
 */
export async function decideRows<Passed extends Pass>(
  pipelines: Pipelines,
  { session, read: given, kind, known, options }: RecordsOf,
  pass: (sql: string, columns: readonly ColumnState[]) => Promise<Passed>,
): Promise<Decided<Passed>> {
  const requireAll = (rows: Passed) => {
    if (rows.rowCount !== read.rows) throw new Error(`the engine read ${rows.rowCount} of ${read.rows} records of a file`);
  };
  const { read, leftOut } = leaveColumns(given, known, options.leaveOut);
  const { text } = read;
  const reader = text && { session, pipelines, text, rows: read.rows, known, options };
  if (reader) {
    const fields = await readText(reader, { begun: true });
    const begun = await decideTypesAsBegun(session, pipelines, fields, known);
    const rows = begun && (await pass(pipelines.uploadedRows, begun.columns).catch(unlessDisagreeing));
    if (begun && rows) {
      requireAll(rows);
      return { typed: { ...countMissing(begun, rows), leftOut }, fields, rows };
    }
  }
  const fields = reader ? await readText(reader, { begun: false }) : read.fields;
  const isParquet = kind === 'parquet';
  const typing = read.lines ? decideLineTypes(session, pipelines, read, known) : decideFileTypes(session, pipelines, fields, known);
  const typed = await (isParquet ? typing.catch(refuseUnreadable) : typing);
  await session.prepare([fill(pipelines.uploadedValues, { values: typed.values === '' ? 'null as fieldlake_nothing' : typed.values })]);
  const sql = typed.values === '' ? `select * exclude (fieldlake_nothing) from (${pipelines.uploadedRows})` : pipelines.uploadedRows;
  const passing = pass(sql, typed.columns);
  const rows = await (read.lines
    ? passing.catch(orNotPlain)
    : isParquet
      ? passing.catch((cause: unknown) => refuseIfToBlame(session, cause))
      : passing);
  requireAll(rows);
  return { typed: { ...countMissing(typed, rows), leftOut }, fields, rows };
}

/** The `uploaded_at` of a file's rows: each file of an upload is a microsecond behind the one before it, so that rows keep the order of their files. */
export function printUploadedAt(createdAt: string, ordinal: number): string {
  const all = BigInt(Date.parse(`${createdAt.slice(0, 23)}Z`)) * 1_000n + BigInt(createdAt.slice(23, 26)) + BigInt(ordinal);
  return `${new Date(Number(all / 1_000n)).toISOString().slice(0, -1)}${String(all % 1_000n).padStart(3, '0')}Z`;
}

interface RowsOf extends Omit<FileReading, 'refusals'> {
  read: BronzeSource;
  source: string;
  table: LakeTable;
  known: readonly ColumnState[];
}

/**
 * Types `bronze_records`, stages its rows for the commit that puts them into their table, and writes anew those files of the table whose columns they widen.
 * Throws NotPlain when JSON has to be read the long way.
 */
export async function stageRows(
  { db, staging, pipelines }: IngestDeps,
  { upload, file }: Task,
  { session, refusedFile, written, read, source, table, known }: RowsOf,
) {
  const tableId = table.id;
  await session.prepare(
    Object.entries({
      source,
      uploaded_at: printUploadedAt(upload.createdAt, file.ordinal),
      experiment_id: upload.experimentId,
      upload_id: upload.id,
      contributor_id: upload.createdBy,
      table_id: tableId,
      path: file.path,
      refused: refusedFile.path,
    }).map(([name, value]) => setVariable(name, value)),
  );
  const records = { session, read, kind: checkKind(upload.sourceKind), known, options: upload.reading };
  const { typed, rows } = await decideRows(pipelines, records, (sql) =>
    session.stage({ tableId, experimentId: upload.experimentId, select: { sql, values: [] }, sortColumn: 'uploaded_at', sorted: true }),
  );
  written.push(rows);
  const widened = await widenFiles({ db, staging, session }, { ...table, known, sortColumn: 'uploaded_at' }, typed.columns);
  written.push(widened.staged);
  const files = changeWith(rows, widened, table.version);
  const change: Commit = { tableId, cause: 'ingest', ...files, columns: typed.columns, typedBy: printFingerprint(known) };
  return { typed, rows, change };
}

/** Counts for every column the stored rows in which it has no value. An odd value, which is kept as text beside it, counts as a value. */
function countMissing(typed: TypedFile, { files, rowCount }: Pass): TypedFile {
  const nulls = new Map<string, number>();
  for (const { nullCounts } of files) for (const [name, many] of nullCounts) nulls.set(name, (nulls.get(name) ?? 0) + many);
  const report = typed.report.map((line) => ({ ...line, missingValues: (nulls.get(line.name) ?? rowCount) - line.oddValues }));
  return { ...typed, report };
}

/** What the sender can do about records that were refused for a reason. */
const ADVICE: Partial<Record<RefusalReason, string>> = {
  invalid_utf8: 'Save the file as UTF-8, or send a csv or tsv file with its encoding, such as windows-1252.',
  invalid_characters: 'Send the file with the encoding that it is in.',
  invalid_json:
    "A text that is cut off or misspelled is no JSON; nor are NaN and Infinity, which Python's json.dumps writes: send null instead.",
};
/** What is said where no record of a file fits its header. */
const NONE_FITS =
  " No record fits the header. Where each has one field more: R's write.table gives the names of rows no header; write the file with row.names = FALSE, or with col.names = NA.";
type Told = Pick<TypedFile, 'report' | 'leftOut'>;
/** What has to be known besides where there are other records; a preview says it too, before they are stored. */
const NOT_TWICE = ' Where other records are stored, take the upload back first: they would come twice.';
function advise(stored: number, { reasons }: Refusals): string {
  const advice = [...reasons.keys()].flatMap((reason) => ADVICE[reason] ?? []);
  const all = advice.map((each) => ` ${each}`).join('') + (stored > 0 && advice.length > 0 ? NOT_TWICE : '');
  return stored === 0 && reasons.has('too_many_fields') ? all + NONE_FITS : all;
}

const MOST_NAMED = 5;
const listNames = (names: readonly string[]) => names.map((name) => `'${name.slice(0, 100)}'`).join(', ');

/** The sentence on columns that a field of the upload names and the file does not have. */
function nameUnknown(field: 'types' | 'leaveOut', asked: readonly string[], { report, leftOut = [] }: Told): string | null {
  const has = (key: string) => leftOut.includes(key) || report.some(({ name, originalKey }) => name === key || originalKey === key);
  const unknown = asked.filter((key) => !has(key));
  return unknown.length === 0 ? null : `The file has no column ${listNames(unknown.slice(0, MOST_NAMED))}, which ${field} names.`;
}

/** The sentence on a file that is one object of objects, as GeoJSON, BrAPI, and pandas unless told otherwise, write a table. */
const explainOneRow = (kind: string, stored: number, report: TypedFile['report']): string | null =>
  kind === 'json' &&
  stored === 1 &&
  report.length > 1 &&
  (report.every(({ type }) => type === 'VARIANT') ||
    report.some(({ originalKey, type }) => originalKey === 'features' && type === 'VARIANT'))
    ? "The file is one object, and so one row. Where its rows are a list within it, send that list alone: of GeoJSON jq .features, of BrAPI jq .result.data. A table of pandas comes in with a row for each of its own when it is written with to_json(orient='records')."
    : null;

/** The part of a file's report that says what was refused, and what else there is to know of the whole file. */
export function explain(
  stored: number,
  refusals: Refusals,
  { sourceKind, reading, told }: { sourceKind: string; reading: ReadingOptions; told?: string | undefined },
  typed: Told,
): ReturnType<typeof explainRefused> {
  const outcome = explainRefused(stored, refusals);
  const { report, leftOut = [] } = typed;
  const others = [
    leftOut.length === 0 ? null : `Left out: ${listNames(leftOut)}.`,
    nameUnknown('leaveOut', reading.leaveOut ?? [], typed),
    nameUnknown('types', Object.keys(reading.types ?? {}), typed),
    explainOneRow(sourceKind, stored, report),
    told ?? null,
  ];
  const sentences = [outcome.message, ...others].filter((each) => each !== null);
  return { ...outcome, message: sentences.length === 0 ? null : sentences.join(' ') };
}

const explainRefused = (stored: number, refusals: Refusals): Pick<FileOutcome, 'status' | 'quarantined' | 'reason' | 'message'> =>
  refusals.count === 0
    ? { status: 'completed', quarantined: 0, reason: null, message: stored === 0 ? 'The file has no records.' : null }
    : {
        status: stored === 0 ? 'failed' : 'partial',
        quarantined: refusals.count,
        reason: [...refusals.reasons.keys()].join(', '),
        message: `Not stored: ${[...refusals.reasons].map(([reason, count]) => `${count} × ${reason.replaceAll('_', ' ')}${reason === 'too_many_fields' ? ' (more than the header has)' : ''}`).join(', ')}.${advise(stored, refusals)}`,
      };
