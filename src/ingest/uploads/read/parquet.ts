import { open } from 'node:fs/promises';
import { readJson } from '../../../json.ts';
import type { ColumnType } from '../../../lakehouse/terms/catalog.ts';
import type { StagingSession } from '../../../lakehouse/tables/staging.ts';
import { isOutOfMemory } from '../../../lakehouse/terms/memory.ts';
import { isStorageFull } from '../../../storage/full.ts';
import { MAX_COLUMNS, limitParquet, limitUnpackedBytes } from '../../limits.ts';
import { NotParquet } from '../../../lakehouse/terms/thrift.ts';
import { measureParquet, type Unpacked } from './parquet-pages.ts';
import { fill, setVariable, type Pipelines } from '../../pipeline.ts';
import { quoteName } from '../../../lakehouse/terms/quoting.ts';
import { FileRefused } from '../../record-writer.ts';
import type { BronzeField } from '../../typing/classes.ts';

const MAGIC = 'PAR1';
/** Bytes of a row in the table besides its cells: its id and when it came. */
const ROW_BYTES = 16;
const TEXTS_AT_ONCE = 100;
const TEXT_IS_TOO_LARGE = 'the text of the file is too large';

const tooLarge = (limit: number, cause?: unknown) =>
  new FileRefused(
    'unpacks_too_large',
    `The Parquet file unpacks to more than ${Math.round(limit / 1_048_576)} MiB, which is too much for a file of its size.`,
    { cause },
  );

const tooMany = (size: number, has: { rows: number; values: number }, may: { rows: number; cells: number }) => {
  const told = (count: number) => count.toLocaleString('en');
  return new FileRefused(
    'unpacks_too_large',
    `The Parquet file of ${told(size)} bytes has ${told(has.rows)} rows with ${told(has.values)} cells; one of its size may have ${told(may.rows)} rows and ${told(may.cells)} cells. Whoever runs the service can raise UPLOAD_PARQUET_EXPANSION.`,
  );
};

/** Looks at a file's ends, its footer and the headers of its pages; nothing is unpacked. Answers its rows, and the bytes that it may unpack to. */
async function requireParquet(path: string, expansion?: number): Promise<{ rows: number; limit: number }> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const ends = Buffer.alloc(8);
    await handle.read(ends, 0, 4, 0);
    if (size >= 12) await handle.read(ends, 4, 4, size - 4);
    if (ends.toString('latin1', 0, 4) !== MAGIC) throw new FileRefused('wrong_type', 'This is not a Parquet file.');
    if (ends.toString('latin1', 4, 8) !== MAGIC) throw new FileRefused('cut_off', 'The Parquet file has no footer: it was cut off.');
    const limit = limitUnpackedBytes(size);
    const most = limitParquet(size, expansion);
    const isTooMany = ({ rows, values }: Unpacked) => rows > most.rows || values > most.cells;
    const isTooWide = ({ columns }: Unpacked) => columns > MAX_COLUMNS;
    const isTooLarge = (found: Unpacked) =>
      isTooWide(found) || isTooMany(found) || found.bytes + found.values + ROW_BYTES * found.rows > limit;
    const unpacked = await measureParquet(handle, size, isTooLarge);
    // the engine takes minutes to describe very many
    if (isTooWide(unpacked))
      throw new FileRefused('too_many_columns', `The file has ${unpacked.columns} columns; a table holds at most ${MAX_COLUMNS}.`);
    if (isTooMany(unpacked)) throw tooMany(size, unpacked, most);
    if (isTooLarge(unpacked)) throw tooLarge(limit);
    return { rows: unpacked.rows, limit };
  } catch (error) {
    if (error instanceof NotParquet) return refuseUnreadable(error);
    throw error;
  } finally {
    await handle.close();
  }
}

const asText = (column: string) => ({ expression: `cast(${column} as varchar)`, form: { kind: 'string' } as ColumnType });

/** How the engine's plain types become ours. Some are cast before. */
const PLAIN: Readonly<Record<string, readonly [kind: Exclude<ColumnType['kind'], 'decimal' | 'struct' | 'array'>, cast?: string]>> = {
  BOOLEAN: ['boolean'],
  TINYINT: ['int', 'INTEGER'],
  SMALLINT: ['int', 'INTEGER'],
  UTINYINT: ['int', 'INTEGER'],
  USMALLINT: ['int', 'INTEGER'],
  INTEGER: ['int'],
  UINTEGER: ['bigint', 'BIGINT'],
  BIGINT: ['bigint'],
  FLOAT: ['double', 'DOUBLE'],
  DOUBLE: ['double'],
  VARCHAR: ['string'],
  DATE: ['date'],
  'TIMESTAMP WITH TIME ZONE': ['timestamp'],
  TIMESTAMP: ['timestamp_ntz'],
  TIMESTAMP_S: ['timestamp_ntz', 'TIMESTAMP'],
  TIMESTAMP_MS: ['timestamp_ntz', 'TIMESTAMP'],
  TIMESTAMP_NS: ['timestamp_ntz', 'TIMESTAMP'],
};

/** Whether values of a type of the engine are times, which can be infinite there. No other engine and no reader knows such times. */
const isTime = (type: string) => ['date', 'timestamp', 'timestamp_ntz'].includes(PLAIN[type]?.[0] ?? '');

const isTimeOfDay = (type: string) => type === 'TIME' || type === 'TIME WITH TIME ZONE';

/** How a type of the engine becomes one of ours: the expression over the file's column, and the type it then has. */
function read(column: string, type: string): { expression: string; form: ColumnType } {
  const [kind, cast] = PLAIN[type] ?? [];
  if (kind !== undefined) return { expression: cast === undefined ? column : `cast(${column} as ${cast})`, form: { kind } };
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision !== undefined) return { expression: column, form: { kind: 'decimal', precision: Number(precision), scale: Number(scale) } };
  if (type === 'UBIGINT') return { expression: `cast(${column} as DECIMAL(38,0))`, form: { kind: 'decimal', precision: 38, scale: 0 } };
  if (type === 'BLOB') return { expression: `to_base64(${column})`, form: { kind: 'string' } };
  if (type === 'JSON') return { expression: `finite_json(trimmed_json(${column}))`, form: { kind: 'variant' } };
  if (!/\[\]$|\[\d+\]$|^STRUCT|^MAP|^UNION|^VARIANT$/.test(type)) return asText(column);
  const json = `to_json(${column})`;
  const made = type.includes('TIMESTAMP') ? `timed_json(${json})` : json;
  return { expression: `finite_json(${/DECIMAL\((\d+),\1\)/.test(type) ? `pointed_json(${made})` : made})`, form: { kind: 'variant' } };
}

/** Asks the engine about the file. Throws FileRefused where it cannot be read. */
type Ask = (sql: string) => Promise<readonly Record<string, unknown>[]>;

interface Described {
  name: string;
  type: string;
}

const CUT = 'The file has these times to the nanosecond; they are kept to the microsecond.';
const FINER = 'Some of these times are finer than a microsecond, so they are kept as text.';
const ENDLESS = 'Some of these times are infinite, so they are kept as text.';

/**
 * Finds columns with a time that microseconds cannot say, or that is infinite, with why they are kept as text, and those with times in nanoseconds of which
 * the engine reads only microseconds.
 */
async function findOddTimes(ask: Ask, described: readonly Described[]) {
  const times = described.filter(({ type }) => isTime(type));
  const texts = new Map<string, string>();
  for (let at = 0; at < times.length; at += TEXTS_AT_ONCE) {
    const batch = times.slice(at, at + TEXTS_AT_ONCE);
    const tests = batch.map(({ name, type }, index) => {
      const column = quoteName(name);
      const finite = (extreme: string) => `isfinite(cast(${extreme}(${column}) as ${type === 'TIMESTAMP_NS' ? 'timestamp' : type}))`;
      const finer = type === 'TIMESTAMP_NS' ? `bool_or(epoch_ns(${column}) % 1000 <> 0)` : 'false';
      return `coalesce(${finer}, false) as f${index}, not coalesce(${finite('min')} and ${finite('max')}, true) as e${index}`;
    });
    const [row = {}] = await ask(`select ${tests.join(', ')} from read_parquet(getvariable('records'), hive_partitioning = false)`);
    batch.forEach(({ name }, index) => {
      if (row[`f${index}`] === true) texts.set(name, FINER);
      if (row[`e${index}`] === true) texts.set(name, ENDLESS);
    });
  }
  const clocks = described.filter(({ type }) => isTime(type) || isTimeOfDay(type));
  if (clocks.length === 0) return { texts, cut: new Set<string>() };
  const rows = await ask(
    `select name from parquet_schema(getvariable('records')) where type = 'INT96'
      or logical_type like '%NANOS=NanoSeconds%' and (logical_type like '%isAdjustedToUTC=1%' or logical_type like 'TimeType%')`,
  );
  const inNanoseconds = new Set(rows.map(({ name }) => String(name)));
  return { texts, cut: new Set(clocks.map(({ name }) => name).filter((name) => inNanoseconds.has(name))) };
}

/** Characters at most of what pandas says of its columns; a longer text is passed over. */
const MOST_TOLD = 1_048_576;
const UNITS: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds' };

/** The note on a column of whole numbers that had another type in pandas, which Parquet does not have. */
function noteNumbers(type: unknown): string | undefined {
  const [, unit, period] = /^(?:timedelta64\[(s|ms|us|ns)\]|period\[([\w-]{1,20})\])$/.exec(String(type)) ?? [];
  if (unit !== undefined) return `These are durations of pandas, as whole numbers of ${UNITS[unit] ?? unit}.`;
  return period === undefined
    ? undefined
    : `These are periods of pandas (${period}), counted from 1970 on. To have them as text, write them with astype(str).`;
}

/** The notes on whole numbers that pandas wrote for durations and periods, by column. */
async function noteWrittenByPandas(ask: Ask): Promise<Map<string, string>> {
  const [found] = await ask(
    `select try(decode(value)) as told from parquet_kv_metadata(getvariable('records')) where key = 'pandas'::blob and octet_length(value) <= ${MOST_TOLD}`,
  );
  const notes = new Map<string, string>();
  try {
    const { columns } = readJson(String(found?.['told'])) as { columns: readonly { field_name: unknown; numpy_type: unknown }[] };
    for (const { field_name: name, numpy_type: type } of columns) {
      const note = noteNumbers(type);
      if (note !== undefined) notes.set(String(name), note);
    }
  } catch {
    // whoever wrote it meant something else by that key
  }
  return notes;
}

/** Digits of a decimal at most; the engine reads wider ones as other numbers. */
const MOST_DIGITS = 38;
const MOST_NAMED = 5;

/** Refuses a file that has wider decimals in a column, or in a list or struct of one. */
async function requireReadDecimals(ask: Ask): Promise<void> {
  const schema = `parquet_schema(getvariable('records'))`;
  const [{ digits } = { digits: null }] = await ask(`select max(precision) as digits from ${schema}`);
  if (digits === null || Number(digits) <= MOST_DIGITS) return;
  const [root, ...elements] = await ask(`select name, num_children as children, precision as digits from ${schema}`);
  const names = new Set<string>();
  let at = 0;
  // an element stands before its children, and the columns are those of the root
  for (let left = Number(root?.['children']); left > 0; left -= 1) {
    const name = String(elements[at]?.['name']);
    for (let open = 1; open > 0 && at < elements.length; at += 1) {
      if (Number(elements[at]?.['digits']) > MOST_DIGITS) names.add(name);
      open += Number(elements[at]?.['children'] ?? 0) - 1;
    }
  }
  const named = [...names].slice(0, MOST_NAMED).map((name) => `'${name.slice(0, 100)}'`);
  const more = names.size > named.length ? ` and ${names.size - named.length} more` : '';
  throw new FileRefused(
    'decimal_too_wide',
    `Decimals of at most ${MOST_DIGITS} digits are read; the file declares up to ${Number(digits)} in ${named.join(', ')}${more}. Cast them to a decimal of ${MOST_DIGITS} digits, to double or to text, and send the file anew.`,
  );
}

/** The refusal of a Parquet file that the engine could not read. */
export function refuseUnreadable(cause: unknown): never {
  // a disk without room says nothing of the file: the upload is tried again
  if (cause instanceof FileRefused || isStorageFull(cause) || (cause as Error).name === 'AbortError') throw cause;
  if (isOutOfMemory(cause))
    throw new FileRefused('unpacks_too_large', 'A few rows of the Parquet file unpack to more than the memory that reading may use.', {
      cause,
    });
  throw new FileRefused(
    'unreadable',
    'The Parquet file cannot be read: its footer or its pages are damaged, or it uses a feature that is not supported.',
    { cause },
  );
}

/** Refuses a Parquet file where it is to blame for a failure: its values cannot be unpacked, or do not fit the memory in which they are written. */
export async function refuseIfToBlame(session: StagingSession, cause: unknown): Promise<never> {
  // the hash makes the engine unpack every value
  await session.rows({ sql: 'select bit_xor(hash(records)) from bronze_records as records', values: [] }).catch(refuseUnreadable);
  if (isOutOfMemory(cause)) refuseUnreadable(cause);
  throw cause;
}

/** Adds up the text of every row, and stops where it is too much. A dictionary can make that text as long as it likes. */
async function requireText(session: StagingSession, pipelines: Pipelines, texts: readonly string[], limit: number): Promise<void> {
  for (let at = 0; at < texts.length; at += TEXTS_AT_ONCE) {
    const bytes = texts.slice(at, at + TEXTS_AT_ONCE).map((column) => `coalesce(strlen(${column}), 0)`);
    await session
      .rows(fill(pipelines.uploadedText, { bytes: bytes.join(' + '), limit: String(limit), problem: TEXT_IS_TOO_LARGE }))
      .catch((cause: unknown) => {
        throw (cause as Error).message.includes(TEXT_IS_TOO_LARGE) ? tooLarge(limit, cause) : cause;
      })
      .catch(refuseUnreadable);
  }
}

/** Checks a Parquet file by its footer and the headers of its pages before any page is unpacked, and makes `bronze_records` of it. */
export async function openParquet(
  session: StagingSession,
  pipelines: Pipelines,
  path: string,
  expansion?: number,
): Promise<{ fields: BronzeField[]; rows: number }> {
  const { rows, limit } = await requireParquet(path, expansion);
  const ask: Ask = (sql) => session.rows({ sql, values: [] }).catch(refuseUnreadable);
  await session.prepare([setVariable('records', path)]);
  const described = await ask(`describe select * from read_parquet(getvariable('records'), hive_partitioning = false)`);
  await requireReadDecimals(ask);
  const told = described.map(({ column_name: name, column_type: type }): Described => ({ name: String(name), type: String(type) }));
  const { texts: odd, cut } = await findOddTimes(ask, told);
  const written = await noteWrittenByPandas(ask);
  const fields: BronzeField[] = [];
  const columns = told.map(({ name, type }, index) => {
    const whyText = odd.get(name);
    const { expression, form } = whyText === undefined ? read(quoteName(name), type) : asText(quoteName(name));
    const note = whyText ?? (cut.has(name) ? CUT : type === 'BIGINT' ? written.get(name) : undefined);
    fields.push({ key: name, column: `c${index + 1}`, form, ...(note === undefined ? {} : { note }) });
    return `${expression} as c${index + 1}`;
  });
  await session.prepare([fill(pipelines.uploadedParquet, { columns: columns.length === 0 ? 'null as c0' : columns.join(', ') })]);
  const isText = ({ form }: BronzeField) => typeof form === 'object' && (form.kind === 'string' || form.kind === 'variant');
  const texts = fields.filter(isText).map(({ column }) => column);
  await requireText(session, pipelines, texts, limit);
  return { fields, rows };
}
