import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import type { SourceKind } from '../limits.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import { BufferedFile, FileRefused, HexCounter, type Numbering, type Refusals } from '../record-writer.ts';
import { AMBYTE_COLUMNS, scanAmbyte } from './read/ambyte.ts';
import { scanCsv } from './read/csv.ts';
import { LineWriter, type KeyStats } from './read/json-lines.ts';
import { scanJson, TokenWriter } from './read/json.ts';
import { openParquet } from './read/parquet.ts';
import { nameAbove } from './read/titles.ts';
import { writeSheetText } from './read/sheets/sheet-text.ts';
import { MISSING_MARKS, type Encoding, type ReadingOptions, type SentField, type SentText } from '../typing/readings.ts';
import type { BronzeField } from '../typing/classes.ts';

/** What the reading of every file needs of the service. */
export interface ReadDeps {
  pipelines: Pipelines;
  /** Bytes of one record at most; 8 MiB by default. */
  maxRecordBytes?: number;
  /** Rows of a Parquet file for each of its bytes; 20 by default. */
  parquetExpansion?: number;
}

interface SourceRequest {
  session: StagingSession;
  kind: SourceKind;
  /** The bytes as they were sent, on this machine. */
  original: string;
  /** Folder for what is made of them. */
  work: string;
  /** The file's path in the upload. */
  path: string;
  refusals: Refusals;
  /** Which records are read; every one unless given. A Parquet file is always read whole. */
  numbering?: Numbering;
  /** JSON is read the long way, in which every digit is kept. */
  exact?: boolean;
  /** What the upload says of its files. */
  reading: ReadingOptions;
  /** Only the beginning of the file: its last record, which may go on, is passed over. */
  isPart?: boolean;
  signal?: AbortSignal;
}

/** What `bronze_records` holds after a file has been read. */
export interface BronzeSource {
  fields: readonly BronzeField[];
  rows: number;
  /** Lines for the engine's JSON reader, which reads them once the types are known. */
  lines?: { path: string; longest: number; stats: ReadonlyMap<string, KeyStats> };
  /** Set where `bronze_sent` holds text, and it is still to be decided how that is read. */
  text?: SentText;
  /** The line that a delimited file's header begins in, or its row in the sheet, counted from 1. */
  headerLine?: number;
  /** The line of the row of units below it. */
  unitsLine?: number;
  /** Of delimited files what they are in. */
  encoding?: Encoding;
  /** What the report says of the file as a whole. */
  told?: string | undefined;
}

/** Refuses a part of a file that has to be unpacked: such a file can be read only as a whole. */
function requireWhole({ isPart = false }: SourceRequest, what: string): void {
  if (isPart)
    throw new FileRefused(
      'whole_file_needed',
      `Of a part of ${what} nothing can be said. Its report tells what became of it once it is uploaded.`,
    );
}

/** Makes `bronze_records` of a file of any kind. Throws FileRefused when the file as a whole cannot be read. */
export async function readSource(deps: ReadDeps, request: SourceRequest): Promise<BronzeSource> {
  switch (request.kind) {
    case 'csv':
    case 'tsv':
      return readDelimited(deps, request, request.kind);
    case 'xlsx':
      requireWhole(request, 'a workbook');
      return readSheet(deps, request);
    case 'json':
    case 'ndjson':
      return readJson(deps, request, request.kind);
    case 'parquet':
      requireWhole(request, 'a Parquet file');
      return openParquet(request.session, deps.pipelines, request.original, deps.parquetExpansion);
    case 'ambyte':
      return readAmbyte(deps, request);
  }
}

async function readAmbyte({ pipelines }: ReadDeps, request: SourceRequest): Promise<BronzeSource> {
  const { session, original, work, path, refusals, numbering = new HexCounter(), isPart } = request;
  const records = await BufferedFile.create(join(work, 'records'));
  const { rows } = await scanAmbyte({ path: original, name: path, records, refusals, numbering, isPart }).finally(() => records.close());
  const fields = AMBYTE_COLUMNS.map((key, index): BronzeField => ({ key, column: `c${index + 1}`, form: 'token' }));
  await openRecords(session, pipelines, { path: records.path, fields, delimiter: ',', multiline: false });
  return { fields, rows };
}

async function readDelimited(
  { pipelines, maxRecordBytes }: ReadDeps,
  { session, original, work, refusals, numbering = new HexCounter(), reading, isPart, signal }: SourceRequest,
  kind: 'csv' | 'tsv',
  delimiterMade?: string,
): Promise<BronzeSource> {
  const records = await BufferedFile.create(join(work, 'records'));
  const { encoding, headerRow, unitsRow, missing = MISSING_MARKS } = reading;
  const from = { path: original, kind, encoding, delimiter: delimiterMade, headerRow, unitsRow, missing };
  const scanned = await scanCsv({ ...from, records, refusals, numbering, maxRecordBytes, isPart, signal }).finally(() => records.close());
  const { header, headerLine, units, delimiter, multiline, longest, rows } = scanned;
  const fields = header.map((key, index): SentField => {
    const unit = units?.texts[index] ?? '';
    return { key, sent: `s${index + 1}`, ...(unit === '' ? {} : { unit }) };
  });
  const columns = fields.map(({ sent }) => ({ column: sent }));
  await openRecords(session, pipelines, { view: 'bronze_sent', path: records.path, fields: columns, delimiter, multiline, longest });
  const told = joinSentences(
    nameAbove('line', headerLine, scanned.above),
    units &&
      (units.rows > 1
        ? 'The two rows below the header have units, which stand beside the columns here. They are no records.'
        : 'The row below the header has units, which stand beside the columns here. It is no record.'),
  );
  return { fields: [], rows, text: { fields, delimiter }, headerLine, unitsLine: units?.line, encoding: scanned.encoding, told };
}

const joinSentences = (...told: readonly (string | undefined)[]): string | undefined =>
  told.filter((each) => each !== undefined).join(' ') || undefined;

async function readSheet(deps: ReadDeps, request: SourceRequest): Promise<BronzeSource> {
  const { original, work, signal, reading } = request;
  const { sheet, decimal, headerRow } = reading;
  const into = join(work, 'sheet');
  const { notes, told, header, below, above } = await writeSheetText({ original, into, sheet, decimal, headerRow }, signal);
  const read = await readDelimited(deps, { ...request, original: into, reading: { ...reading, headerRow: 1 } }, 'csv', ';');
  const fields = read.text?.fields.map((field, index): SentField => ({ ...field, note: notes.get(index) })) ?? [];
  return {
    ...read,
    headerLine: header,
    unitsLine: read.unitsLine && below,
    told: joinSentences(told, nameAbove('row', header, above), read.told),
    text: read.text && { ...read.text, fields, hasNumberCells: decimal === undefined },
  };
}

async function readJson(
  { pipelines, maxRecordBytes }: ReadDeps,
  { session, original, work, refusals, numbering = new HexCounter(), exact = false, isPart, signal }: SourceRequest,
  kind: 'json' | 'ndjson',
): Promise<BronzeSource> {
  const records = await BufferedFile.create(join(work, 'records'));
  const source = { path: original, kind, records, refusals, numbering, maxRecordBytes, isPart, signal };
  const fieldOf = (key: string, index: number, form: 'token' | 'json'): BronzeField => ({ key, column: `c${index + 1}`, form });
  if (!exact) {
    const writer = new LineWriter(records);
    await scanJson({ ...source, writer }).finally(() => records.close());
    const fields = writer.fields.map(({ key }, index) => fieldOf(key, index, 'json'));
    const stats = new Map(writer.fields.map((each, index) => [`c${index + 1}`, each]));
    return { fields, rows: writer.rows, lines: { path: records.path, longest: writer.longest, stats } };
  }
  const writer = new TokenWriter(records);
  await scanJson({ ...source, writer }).finally(() => records.close());
  const fields = writer.keys.map((key, index) => fieldOf(key, index, 'token'));
  await openRecords(session, pipelines, { path: records.path, fields, delimiter: ',', multiline: writer.multiline, padding: true });
  return { fields, rows: writer.rows };
}

export interface Records {
  /** `bronze_records` unless said otherwise. */
  view?: 'bronze_records' | 'bronze_sent';
  path: string;
  /** Besides `fieldlake_row`, which is the first. */
  fields: readonly Pick<BronzeField, 'column'>[];
  delimiter: string;
  multiline: boolean;
  /** Whether a record may end before the last field. */
  padding?: boolean;
  /** The quote around fields; `"` unless said otherwise. */
  quote?: string;
  /** Columns that are empty in every record, and that the file leaves out. */
  absent?: readonly string[];
  /** Bytes of a record at most. */
  longest?: number;
}

/** Bytes at most of a record as our scanners write it: with every quote doubled, its number and delimiters. */
const LONGEST = 33_554_432;
/**
 * Bytes that the engine reads at once. With 64 MiB its threads waited for each other on a file of 25 MB, which costs them a processor: 820 ms instead of 400.
 */
const BUFFER = 16_777_216;
/** Where a record may be longer, one thread reads: several lose a record of two megabytes that lies over the end of what is read at once, or refuse it. */
const LONGEST_OF_THREADS = 4_194_304;
/** Bytes more than a file has, so that the engine sees its end. */
const SPARE = 4_096;

/** Makes the view of a file that our scanners wrote. */
export async function openRecords(
  session: StagingSession,
  pipelines: Pipelines,
  { view = 'bronze_records', path, fields, delimiter, multiline, padding = false, quote = '"', absent = [], longest }: Records,
): Promise<void> {
  const columns = ['fieldlake_row', ...fields.map(({ column }) => column)].map((column) => `'${column}': 'VARCHAR'`).join(', ');
  const { size } = await stat(path);
  // no record is longer than its file, and all that is asked for is reserved, for a file of a few bytes too
  const most = Math.min(longest ?? LONGEST, size + SPARE);
  const isLong = longest !== undefined && longest > LONGEST_OF_THREADS;
  await session.prepare([
    setVariable('records', path),
    fill(pipelines.uploadedRecords, {
      ...{ view, delimiter, quote, parallel: String(!multiline && !isLong), padding: String(padding), columns },
      longest: String(most),
      buffer: String(Math.min(Math.max(BUFFER, 2 * most), 2 * (size + SPARE))),
      absent: absent.map((column) => `, null::varchar as ${column}`).join(''),
    }),
  ]);
}
