/**
 * Gives a column of an upload table another name or type after the upload. The values in the files that hold the column are read again, as an upload reads
 * them.
 */
import { errors } from '../../errors.ts';
import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import { listColumnsAt, commit, findTableById, type ColumnState, type Commit } from '../../lakehouse/tables/manifest.ts';
import type { LakeTable } from '../../lakehouse/tables/manifest-rows.ts';
import { areInOrder, findHolding, setFilesVariable, splitFiles, writeSelect } from '../../lakehouse/tables/rewriting.ts';
import { useSession, type StagingArea, type StagingSession } from '../../lakehouse/tables/staging.ts';
import { printPhysicalType } from '../../lakehouse/terms/physical-types.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import { printType } from '../../lakehouse/terms/types.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { removeUnlessCommitted, retryUnchanged } from '../../lakehouse/tables/attempts.ts';
import { isColumnName, isOwnColumn, nameOddColumn } from '../typing/columns.ts';
import { fill, type Pipelines } from '../pipeline.ts';
import { printValue } from '../typing/printed-values.ts';
import { chooseReadings, type DayOrder, type TypeWord } from '../typing/readings.ts';
import { requireRoom, decideFileTypes, type ColumnReport } from '../typing/decide.ts';
import type { Database, Transaction } from '../../database/database.ts';

/** What is to become of a column. At least one of `name` and `type` is given. */
export interface ColumnOrder {
  /** The column's name, in upper or lower case. */
  column: string;
  name?: string;
  type?: TypeWord;
  decimal?: '.' | ',';
  dateOrder?: DayOrder;
}

export interface ColumnOutcome extends Omit<ColumnReport, 'originalKey' | 'widenedFrom'> {
  /** Rows of the table in which the column was looked at. */
  rows: number;
  /** The version of the table in which the column is so. */
  version: number;
}

interface ChangeDeps {
  db: Database;
  staging: StagingArea;
  pipelines: Pipelines;
}

export interface ChangeOptions {
  signal?: AbortSignal;
  /** Called after each part of the files. */
  onProgress?: (rows: { done: number; total: number }) => Promise<unknown>;
  /** Called in the transaction that makes the change. */
  onEnd: (tx: Transaction, outcome: ColumnOutcome) => Promise<unknown>;
}

const TRIES = 20;

/** A column with the one beside it that holds its odd values, and what both are to be called. */
interface Target {
  column: ColumnState;
  odd: ColumnState | undefined;
  name: string;
  /** The other columns of the table. */
  others: readonly ColumnState[];
}

/** Finds the column that an order is about. Errors: columnNotFound, columnFixed, columnNameTaken. */
export function findTarget(known: readonly ColumnState[], order: ColumnOrder): Target {
  if (isOwnColumn(order.column)) throw errors.columnFixed(order.column);
  const find = (name: string) => known.find((each) => each.name.toLowerCase() === name.toLowerCase());
  const column = find(order.column);
  if (!column) throw errors.columnNotFound(order.column);
  const odd = find(nameOddColumn(column.name));
  const others = known.filter((each) => each !== column && each !== odd);
  const name = order.name ?? column.name;
  if (!isColumnName(name)) throw errors.columnFixed(name);
  const wanted = [name, nameOddColumn(name)].map((each) => each.toLowerCase());
  if (others.some((each) => wanted.includes(each.name.toLowerCase()))) throw errors.columnNameTaken(name);
  return { column, odd, name, others };
}

function freeName(known: readonly ColumnState[], wanted: string): string {
  const taken = new Set(known.map(({ name }) => name.toLowerCase()));
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
  return name;
}

/** How the rows of the files of `setFilesVariable` are written anew, and what the table's catalogue then says. */
interface Rewriting {
  sql: string;
  columns: readonly ColumnState[];
  outcome: Pick<ColumnOutcome, 'oddExamples' | 'note'>;
}

const held = (column: ColumnState): ColumnState => ({ ...column, hasValues: true });

/** Prints the rows that `renameOnly` and `readAgain` begin with: every row, with the column and the one that holds its odd values. */
function sourceOf({ column, odd, others }: Target): { rows: string; without: string } {
  const own = odd ? [held(column), held(odd)] : [held(column)];
  return { rows: writeSelect([...others, ...own]), without: own.map(({ name }) => quoteName(name)).join(', ') };
}

/** The column under its new name, as the table lists it. */
function renamed({ column, name }: Target): Pick<ColumnState, 'name' | 'originalKey' | 'nullable' | 'origin'> {
  const key = column.originalKey ?? column.name;
  return { name, originalKey: key === name ? undefined : key, nullable: column.nullable, origin: column.origin };
}

/** Gives the column another name, and where it has no values another type. */
function renameOnly(target: Target, word?: TypeWord): Rewriting {
  const { column, odd, name } = target;
  const type = word === undefined ? column.type : { kind: word };
  const { rows, without } = sourceOf(target);
  const beside = odd ? `, ${quoteName(odd.name)} as ${quoteName(nameOddColumn(name))}` : '';
  return {
    sql: `select * exclude (${without}), ${quoteName(column.name)} as ${quoteName(name)}${beside} from (${rows})`,
    columns: [{ ...column, ...renamed(target), type }, ...(odd ? [{ ...odd, name: nameOddColumn(name) }] : [])],
    outcome: {},
  };
}

/**
 * Reads again what was sent: odd text as it stands beside the column, and values as a file would write them. Values that are of the type already stay as they
 * are.
 */
async function readAgain(
  { session, pipelines }: { session: StagingSession; pipelines: Pipelines },
  target: Target,
  { type: word, decimal, dateOrder }: ColumnOrder & { type: TypeWord },
  rowCount: number,
): Promise<Rewriting> {
  const { column, odd, name, others } = target;
  const type: ColumnType = { kind: word };
  const isKept = printType(column.type) === printType(type);
  const { rows, without } = sourceOf(target);
  const known = [...others, column];
  const [sent, into, kept] = [freeName(known, 'fieldlake_sent'), freeName(known, 'fieldlake_read'), freeName(known, 'fieldlake_kept')];
  const printed = printValue(column, word);
  // a typed number is printed with a point, and read again with the mark that was told
  const isPointed = word !== 'string' && (column.type.kind === 'double' || column.type.kind === 'decimal');
  const marked = decimal === ',' && isPointed ? `replace(${printed}, '.', ',')` : printed;
  const value = isKept ? 'null::varchar' : marked;
  const text = odd ? `coalesce(${quoteName(odd.name)}, ${value})` : value;
  await session.prepare([
    // the last digits of a row's id are the number of its record in the file
    {
      sql: `create or replace temp view bronze_sent as select substr(id, 21) as fieldlake_row, ${text} as ${sent} from (${rows})`,
      values: [],
    },
  ]);
  const options = { missing: [], decimal, dateOrder, types: Object.fromEntries([[name, word]]) };
  const [read] = await chooseReadings(
    { session, pipelines, text: { fields: [{ key: name, sent, into }], delimiter: ',' }, rows: rowCount, known: [], options },
    { begun: false },
  );
  if (!read) throw new Error('one column is read as one');
  await session.prepare([fill(pipelines.readText, { columns: `${read.value}, ${sent}` })]);
  const typed = await decideFileTypes(session, pipelines, [read.field], [], { names: [{ key: name, name }] });
  requireRoom(others, typed.columns);
  const [report] = typed.report;
  const [first, ...beside] = typed.columns;
  if (!report || !first) throw new Error('one column has one report');
  const values = typed.values === '' ? `null::${printPhysicalType(type)} as ${quoteName(name)}` : typed.values;
  const anew = `select * exclude (${without}, ${sent}, ${into}), ${values}${isKept ? `, ${quoteName(column.name)} as ${kept}` : ''}
    from (select *, ${read.value} from (select *, ${text} as ${sent} from (${rows})))`;
  const { oddExamples, note } = report;
  return {
    sql: isKept ? `select * exclude (${kept}) replace (coalesce(${kept}, ${quoteName(name)}) as ${quoteName(name)}) from (${anew})` : anew,
    columns: [
      {
        ...first,
        ...renamed(target),
        // true even where every value is odd, because the files have the column
        hasValues: true,
        exactDouble: first.exactDouble && (!isKept || column.exactDouble),
      },
      ...beside,
    ],
    outcome: { ...(oddExamples ? { oddExamples } : {}), ...(note === undefined ? {} : { note }) },
  };
}

/** Which columns the catalogue renames, and which it drops. */
function namesOf({ column, odd, name }: Target, columns: readonly ColumnState[]): Pick<Commit, 'renamed' | 'dropped'> {
  const moves = new Map<string, string>();
  const has = (wanted: string) => columns.some((each) => each.name === wanted);
  if (column.name !== name) moves.set(column.name, name);
  const isOdd = has(nameOddColumn(name));
  if (odd && isOdd && odd.name !== nameOddColumn(name)) moves.set(odd.name, nameOddColumn(name));
  return { renamed: moves, dropped: odd && !isOdd ? [odd.name] : [] };
}

async function attempt(deps: ChangeDeps, tableId: string, order: ColumnOrder, options: ChangeOptions): Promise<void> {
  const { db, staging, pipelines } = deps;
  const { signal, onProgress, onEnd } = options;
  const table = await findTableById(db, tableId);
  if (!table) throw errors.tableDeleted();
  const target = findTarget(await listColumnsAt(db, tableId, table.version), order);
  const written: Staged[] = [];
  const change = async (session: StagingSession) => {
    const { column, odd, name } = target;
    const { type } = order;
    const isReread = type !== undefined && (odd !== undefined || printType(column.type) !== printType({ kind: type }));
    const names = isReread || name !== column.name ? [column.name, ...(odd ? [odd.name] : [])] : [];
    const files = await findHolding({ db, staging, session }, table, names);
    const total = [...files.values()].reduce((sum, { rowCount }) => sum + rowCount, 0);
    await onProgress?.({ done: 0, total });
    const sorted = areInOrder([...files.values()]);
    await session.prepare([setFilesVariable([...files.keys()])]);
    const rewriting =
      isReread && files.size > 0 ? await readAgain({ session, pipelines }, target, { ...order, type }, total) : renameOnly(target, type);
    let done = 0;
    for (const { paths, rows } of splitFiles(files)) {
      signal?.throwIfAborted();
      await session.prepare([setFilesVariable(paths)]);
      const select = { sql: rewriting.sql, values: [] };
      const staged = await session.stage({ tableId, experimentId: table.experimentId, select, sortColumn: 'uploaded_at', sorted });
      written.push(staged);
      if (staged.rowCount !== rows) throw new Error(`the engine wrote ${staged.rowCount} of ${rows} rows of ${tableId}`);
      done += rows;
      await onProgress?.({ done, total });
    }
    const retire = [...files.values()].map(({ id }) => id);
    return db.transaction((tx) => settle(tx, { table, target, rewriting, written, retire, total, onEnd }));
  };
  return removeUnlessCommitted(deps, written, () => useSession(staging, { signal }, change));
}

interface Settled {
  table: LakeTable;
  target: Target;
  rewriting: Rewriting;
  written: readonly Staged[];
  retire: readonly string[];
  total: number;
  onEnd: ChangeOptions['onEnd'];
}

async function settle(tx: Transaction, { table, target, rewriting, written, retire, total, onEnd }: Settled): Promise<void> {
  const { columns } = rewriting;
  const files = written.flatMap((staged) => staged.files);
  const { version } = await commit(tx, {
    tableId: table.id,
    cause: 'replace',
    ...{ files, retire, basedOn: table.version, columns },
    ...namesOf(target, columns),
  });
  const countNulls = (name: string) => files.reduce((sum, { nullCounts, rowCount }) => sum + (nullCounts.get(name) ?? rowCount), 0);
  const missing = countNulls(target.name);
  // a column that only gets another name keeps its odd values
  const isOdd = columns.some(({ name }) => name === nameOddColumn(target.name));
  const oddValues = isOdd ? files.reduce((sum, { rowCount }) => sum + rowCount, 0) - countNulls(nameOddColumn(target.name)) : 0;
  const type = printType(columns[0]?.type ?? target.column.type);
  await onEnd(tx, { ...rewriting.outcome, name: target.name, type, rows: total, oddValues, missingValues: missing - oddValues, version });
}

/**
 * Gives a column of an upload table another name or type, in one new version of the table. Earlier versions keep what they had. What does not fit the type is
 * kept as text beside the column. Safe to run again until it has settled. Errors: those of `findTarget`, tableDeleted; sourceChanged when the table never
 * stands still.
 */
export const changeColumn = (deps: ChangeDeps, tableId: string, order: ColumnOrder, options: ChangeOptions): Promise<void> =>
  retryUnchanged(TRIES, () => attempt(deps, tableId, order, options));
