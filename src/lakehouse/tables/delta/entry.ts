/** The entries of a Delta log: what a version of a table added, retired and changed, a line each. Pure. */
import type { ColumnType } from '../../terms/catalog.ts';
import type { ColumnRange } from '../../terms/warehouse.ts';
import { describeState, listTypes, type LogState } from './schema.ts';

/** A file as a log names it. */
export interface LoggedFile {
  /** In the table's folder. */
  name: string;
  byteCount: number;
  rowCount: number;
  ranges: readonly Omit<ColumnRange, 'storedAs'>[];
  /** Milliseconds since 1970. */
  modifiedAt: number;
}

export type RetiredFile = Pick<LoggedFile, 'name' | 'byteCount'>;

interface LoggedTable {
  /** A UUID that stays. */
  id: string;
  name: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

interface LoggedChange {
  table: LoggedTable;
  /** What was said before; null where the log begins. */
  before: LogState | null;
  after: LogState;
  /** Why the version was made, such as `compact`; in capitals it is the log's `operation`. */
  cause: string;
  /** Milliseconds since 1970. */
  at: number;
  added: readonly LoggedFile[];
  retired: readonly RetiredFile[];
  /** Whether rows came, went or changed; else they only lie in other files. */
  changesRows: boolean;
}

type Bound = string | number;

const MICROS = 1_000;
const DAY_MS = 86_400_000;
const [EARLIEST, LATEST] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T00:00:00Z')];

const timeText = (milliseconds: number, zone: 'Z' | ''): string | null =>
  milliseconds < EARLIEST || milliseconds > LATEST ? null : new Date(milliseconds).toISOString().replace('Z', zone);

/**
 * Between which values a column of a file lies, as a log may say it; null where it may not. Spark answers MIN and MAX of numbers and days from here, so these are
 * values that occur. Times are cut to milliseconds, the greatest one upward (trinodb/trino#31231). Decimals lose digits in readers (delta-io/delta-rs#4757).
 */
function boundsOf(type: ColumnType, low: number, high: number): [Bound, Bound] | null {
  const both = (one: Bound | null, other: Bound | null): [Bound, Bound] | null => (one === null || other === null ? null : [one, other]);
  switch (type.kind) {
    case 'int':
    case 'bigint':
      return [low, high];
    case 'double':
      // JSON has neither infinities nor a zero with a sign
      return Number.isFinite(low) && Number.isFinite(high) && !Object.is(low, -0) && !Object.is(high, -0) ? [low, high] : null;
    case 'date':
      return both(timeText(low * DAY_MS, '')?.slice(0, 10) ?? null, timeText(high * DAY_MS, '')?.slice(0, 10) ?? null);
    case 'timestamp':
    case 'timestamp_ntz': {
      const zone = type.kind === 'timestamp' ? 'Z' : '';
      return both(timeText(Math.floor(low / MICROS), zone), timeText(Math.ceil(high / MICROS), zone));
    }
    case 'boolean':
    case 'string':
    case 'variant':
    case 'decimal':
    case 'struct':
    case 'array':
      return null;
  }
}

const isTime = (type: ColumnType | undefined) => type?.kind === 'timestamp' || type?.kind === 'timestamp_ntz';

/** The statistics of a file, as JSON. */
export function printStatistics(
  { rowCount, ranges }: Pick<LoggedFile, 'rowCount' | 'ranges'>,
  types: ReadonlyMap<string, ColumnType>,
): string {
  const nullCount: Record<string, number> = {};
  const minValues: Record<string, Bound> = {};
  const maxValues: Record<string, Bound> = {};
  let tightBounds = true;
  for (const { name, low, high, nulls } of ranges) {
    nullCount[name] = nulls;
    const type = types.get(name);
    const bounds = type && low !== null && high !== null ? boundsOf(type, low, high) : null;
    if (!bounds) continue;
    [minValues[name], maxValues[name]] = bounds;
    if (isTime(type)) tightBounds = false;
  }
  return JSON.stringify({ numRecords: rowCount, minValues, maxValues, nullCount, ...(tightBounds ? {} : { tightBounds }) });
}

/** An `add` or, in a checkpoint, what stands for one. */
export const addOf = (file: LoggedFile, types: ReadonlyMap<string, ColumnType>, changesRows: boolean) => ({
  path: file.name,
  partitionValues: {},
  size: file.byteCount,
  modificationTime: file.modifiedAt,
  dataChange: changesRows,
  stats: printStatistics(file, types),
});

export const removeOf = ({ name, byteCount }: RetiredFile, { at, changesRows }: { at: number; changesRows: boolean }) => ({
  path: name,
  deletionTimestamp: at,
  dataChange: changesRows,
  extendedFileMetadata: true,
  partitionValues: {},
  size: byteCount,
});

export const makeMetaData = ({ id, name, createdAt }: LoggedTable, state: LogState) => {
  const { schemaString, configuration } = describeState(state);
  return {
    id,
    name,
    format: { provider: 'parquet', options: {} },
    schemaString,
    partitionColumns: [],
    configuration,
    createdTime: createdAt,
  };
};

const lines = (actions: readonly object[]) => actions.map((action) => `${JSON.stringify(action)}\n`).join('');

// parameters are flat texts, as kernel-rs takes no others (delta-io/delta-kernel-rs#501)
const commitInfo = (cause: string, at: number) => ({
  commitInfo: { timestamp: at, operation: cause.toUpperCase(), operationParameters: {}, engineInfo: 'fieldlake' },
});

/** The text of one entry. */
export function printEntry({ table, before, after, cause, at, added, retired, changesRows }: LoggedChange): string {
  const types = listTypes(after);
  const said = describeState(after);
  const isNewSchema = before === null || describeState(before).schemaString !== said.schemaString;
  const isNewProtocol = before === null || before.features.length !== after.features.length;
  return lines([
    commitInfo(cause, at),
    ...(isNewProtocol ? [{ protocol: said.protocol }] : []),
    ...(isNewSchema || isNewProtocol ? [{ metaData: makeMetaData(table, after) }] : []),
    ...retired.map((file) => ({ remove: removeOf(file, { at, changesRows }) })),
    ...added.map((file) => ({ add: addOf(file, types, changesRows) })),
  ]);
}

/** The entry of a version in which nothing was added and nothing went. */
export const printNothing = (cause: string, at: number): string => lines([commitInfo(cause, at)]);
