/** Prints the entries of a Delta log: what a version of a table added, retired and changed, one line each. Pure. */
import { basename } from 'node:path';
import type { ColumnType } from '../../terms/catalog.ts';
import type { ColumnRange } from '../../terms/warehouse.ts';
import type { LakeTable } from '../manifest-rows.ts';
import { describeState, listTypes, type LogState } from './schema.ts';

export interface LoggedFile {
  /** Its place in the lake. The log names it by its name in the table's folder. */
  path: string;
  byteCount: number;
  rowCount: number;
  ranges: readonly Omit<ColumnRange, 'storedAs'>[];
  /** Milliseconds since 1970. */
  modifiedAt: number;
}

export type RetiredFile = Pick<LoggedFile, 'path' | 'byteCount'>;

/** A table as a log names it. */
export interface LoggedTable {
  /** A UUID that never changes. */
  id: string;
  name: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

export const describeTable = (table: Pick<LakeTable, 'id' | 'name' | 'identifier' | 'createdAt'>): LoggedTable => ({
  id: table.id,
  name: table.name ?? table.identifier,
  createdAt: table.createdAt.getTime(),
});

interface LoggedChange {
  table: LoggedTable;
  /** The state of the log before this version; null where the log begins. */
  before: LogState | null;
  after: LogState;
  /** Why the version was made, such as `compact`. The log has it in capitals as its `operation`. */
  cause: string;
  /** Milliseconds since 1970. */
  at: number;
  added: readonly LoggedFile[];
  retired: readonly RetiredFile[];
  /** Whether rows came, went or changed. When false, the same rows only lie in other files. */
  changesRows: boolean;
}

type Bound = string | number;

const MICROS = 1_000;
const DAY_MS = 86_400_000;
const [EARLIEST, LATEST] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T00:00:00Z')];

const timeText = (milliseconds: number, zone: 'Z' | ''): string | null =>
  milliseconds < EARLIEST || milliseconds > LATEST ? null : new Date(milliseconds).toISOString().replace('Z', zone);

/**
 * Finds the least and the greatest value of a column of a file, as a log may say them; null where it may not. Spark answers MIN and MAX of numbers and days
 * from these bounds, so they must be values that occur. Times are cut to milliseconds; the greatest time is rounded up (trinodb/trino#31231). Decimals have no
 * bounds, because readers lose digits of them (delta-io/delta-rs#4757).
 */
function boundsOf(type: ColumnType, low: number, high: number): [Bound, Bound] | null {
  const both = (one: Bound | null, other: Bound | null): [Bound, Bound] | null => (one === null || other === null ? null : [one, other]);
  switch (type.kind) {
    case 'int':
    case 'bigint':
      return [low, high];
    case 'double':
      // JSON has neither infinities nor a negative zero
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

function printStatistics({ rowCount, ranges }: Pick<LoggedFile, 'rowCount' | 'ranges'>, types: ReadonlyMap<string, ColumnType>): string {
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

/** Makes an `add` action, for an entry or for a checkpoint. */
export const addOf = (file: LoggedFile, types: ReadonlyMap<string, ColumnType>, changesRows: boolean) => ({
  path: basename(file.path),
  partitionValues: {},
  size: file.byteCount,
  modificationTime: file.modifiedAt,
  dataChange: changesRows,
  stats: printStatistics(file, types),
});

export const removeOf = ({ path, byteCount }: RetiredFile, { at, changesRows }: { at: number; changesRows: boolean }) => ({
  path: basename(path),
  deletionTimestamp: at,
  dataChange: changesRows,
  extendedFileMetadata: true,
  partitionValues: {},
  size: byteCount,
});

export const makeMetaData = ({ id, name, createdAt: createdTime }: LoggedTable, state: LogState) => {
  const { schemaString, configuration } = describeState(state);
  return { id, name, format: { provider: 'parquet', options: {} }, schemaString, partitionColumns: [], configuration, createdTime };
};

const lines = (actions: readonly object[]) => actions.map((action) => `${JSON.stringify(action)}\n`).join('');

// the parameters must be a flat object of texts: kernel-rs takes nothing else (delta-io/delta-kernel-rs#501)
const commitInfo = (cause: string, at: number) => ({
  commitInfo: { timestamp: at, operation: cause.toUpperCase(), operationParameters: {}, engineInfo: 'fieldlake' },
});

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

/** Prints the entry of a version that added nothing and retired nothing. */
export const printNothing = (at: number): string => lines([commitInfo('nothing', at)]);
