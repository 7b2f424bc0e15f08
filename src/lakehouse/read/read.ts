/** Reads a table: plans, compiles, runs, and frames the answer. */
import type { Readable } from 'node:stream';
import { readJson } from '../../json.ts';
import { compile } from '../compile/compile.ts';
import { countMatches, findKnownRows, dropEmptyFiles, type Counted, type KnownRows } from './count.ts';
import { streamChunks } from '../terms/chunks.ts';
import type { Dialect } from '../terms/dialect.ts';
import { countRecords, printCsvHeader, addHeader, joinLines, wrapJsonArray, type LineCount } from './frame.ts';
import type { Output, Plan } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';
import { findKept, planDistinct, planRead, type ReadPlan } from '../plan/planner.ts';
import { MAX_LIMIT, type ReadRequest, type Seek } from '../ask/request.ts';
import type { Window } from '../plan/window.ts';
import { printAsOne, printRows, streamRows } from './printing.ts';
import { writeSpreadsheet } from './spreadsheet.ts';
import { nameType, printType } from '../terms/types.ts';
import type { RunOptions, StreamFormat, Warehouse } from '../terms/warehouse.ts';

export interface ColumnInfo {
  name: string;
  type_name: string;
  type_text: string;
}

export interface PageCounts {
  /** The number of rows in this answer. */
  rows: number;
  /** The number of rows that match. */
  totalRows: number;
  /** True when matching rows exist beyond those sent. False on a paged read, where `totalPages` says what remains. */
  truncated: boolean;
  page: number;
  pageSize: number;
  totalPages: number;
}

/** The places where a page begins and ends in the order of its read. The previous and the next page are read from them. */
export interface PageEdges {
  previous: Seek | null;
  next: Seek | null;
}

/** A JSON answer whose rows were printed by the engine. */
export interface Page {
  columns: readonly ColumnInfo[];
  /** The rows' JSON objects, joined by commas, without the brackets. Destroying it frees the engine. */
  rows: Readable;
  /** Known once `rows` has ended. */
  counts: () => PageCounts;
  /** The edges of a page of plain rows; null where pages are numbered, or everything is one page. */
  edges: PageEdges | null;
}

export const DOWNLOAD_TYPES = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

export interface DownloadOptions extends RunOptions {
  format: keyof typeof DOWNLOAD_TYPES;
  /** Leaves out the apostrophe that keeps spreadsheet programs from running text as a formula. */
  raw?: boolean;
  /** Counts the rows as they pass. For Parquet, counts the rows that the engine has read so far, until the file is written. */
  seen?: LineCount;
}

/** The most rows of an answer that is read at once, which is quicker for few rows. A larger one is streamed from the engine. */
const SMALL = 1000;

const columnInfo = ({ columns }: Pick<ReadPlan, 'columns'>): ColumnInfo[] =>
  columns.map(({ name, type }) => ({ name, type_name: nameType(type), type_text: printType(type) }));

interface Lines {
  body: Readable;
  seen: LineCount;
}

/** Runs a plan and joins its lines. With `waits`, reads the line beyond the last too. */
const runLines = async (
  warehouse: Warehouse,
  plan: ReadPlan,
  { limit, waits }: { limit: number; waits: boolean },
  options: RunOptions,
): Promise<Lines> => {
  const statement = compile(printRows(plan, 'json'), warehouse.dialect);
  if (limit > SMALL) {
    const seen: LineCount = { rows: 0, cut: false };
    const source = await streamRows(warehouse, plan, { statement, format: 'json' }, options);
    return { body: streamChunks(joinLines(source, limit, seen, waits), source), seen };
  }
  const lines = await warehouse.rows(statement, options);
  return {
    body: printAsOne(plan, lines.slice(0, limit)),
    seen: { rows: Math.min(limit, lines.length), cut: lines.length > limit, ...(waits ? { beyond: String(lines[limit]?.line) } : {}) },
  };
};

/** Ends `body` only after `after` has settled; fails it when that fails. */
const thenAwait = (body: Readable, after: () => Promise<void>): Readable => {
  const chunks = async function* () {
    for await (const chunk of body) yield chunk as Buffer;
    await after();
  };
  return streamChunks(chunks(), body);
};

type PageWindow = Extract<Window, { kind: 'page' }>;

/** Reads the rows of a page, in order, each with its keys where they were asked for. Says whether there was one more. */
const pageLines = async (warehouse: Warehouse, plan: ReadPlan, { pageSize, seek }: PageWindow, options: RunOptions) => {
  const found: Record<string, unknown>[] = [];
  const { timeoutMs, ...others } = options;
  const until = performance.now() + (timeoutMs ?? 0);
  for (const rows of plan.parts ?? [plan.rows]) {
    const left = timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, until - performance.now()) };
    found.push(...(await warehouse.rows(compile(printRows({ ...plan, rows }, 'json'), warehouse.dialect), { ...others, ...left })));
    if (found.length > pageSize) break;
  }
  const lines = found.slice(0, pageSize).map(({ line, key }) => ({ line: String(line), keys: key as string | undefined }));
  return { lines: seek?.back ? lines.reverse() : lines, more: found.length > pageSize };
};

const edgesOf = (
  lines: readonly { keys: string | undefined }[],
  { seek, position, more, total }: { seek: Seek | undefined; position: number; more: boolean; total: number },
): PageEdges | null => {
  const place = (row: { keys: string | undefined } | undefined, back: boolean): Seek | null =>
    row?.keys === undefined
      ? null
      : { keys: readJson(row.keys) as (string | null)[], back, position: position + (back ? 0 : lines.length), total };
  const [earlier, later] = seek?.back ? [more, true] : [seek !== undefined || position > 0, more];
  return { previous: earlier ? place(lines[0], true) : null, next: later ? place(lines.at(-1), false) : null };
};

const numberedPage = async (
  warehouse: Warehouse,
  counted: Counted,
  plan: ReadPlan & { window: PageWindow },
  options: RunOptions,
): Promise<Page> => {
  const { seek, page, pageSize } = plan.window;
  const [{ lines, more }, total] = await Promise.all([
    pageLines(warehouse, plan, plan.window, options),
    // every page reads the same version of the table, so the count of the first page still holds
    seek ? seek.total : countMatches(warehouse, counted, options),
  ]);
  const position = seek ? Math.max(0, seek.position - (seek.back ? lines.length : 0)) : (page - 1) * pageSize;
  return {
    columns: columnInfo(plan),
    rows: printAsOne(plan, lines),
    counts: () => ({
      rows: lines.length,
      totalRows: total,
      truncated: false,
      page: seek ? Math.floor(position / pageSize) + 1 : page,
      pageSize,
      totalPages: Math.ceil(total / pageSize),
    }),
    edges: plan.keys ? edgesOf(lines, { seek, position, more, total }) : null,
  };
};

const named = <O extends RunOptions>({ table }: TableSource, options: O): O => ({ ...options, table: table.identifier });

/**
 * Leaves out files that cannot hold a row of a read. Answers what is known of their rows too, where rows are what is counted. Throws the planner's 400s of
 * filters.
 */
const narrowed = async (source: TableSource, request: ReadRequest): Promise<{ near: TableSource; known?: KnownRows }> => {
  const known = await findKnownRows(source, findKept(source, request));
  return { near: known.size === 0 ? source : dropEmptyFiles(source, known), ...(request.aggregation ? {} : { known }) };
};

/**
 * Reads one page, or the one-page answer of an aggregated or limited read. Throws the planner's 400s, `warehouseTimeout` and `warehouseBusy`. A failure after
 * rows have begun to flow destroys `rows`.
 */
export const readPage = async (warehouse: Warehouse, source: TableSource, request: ReadRequest, given: RunOptions = {}): Promise<Page> => {
  const options = named(source, given);
  const { near, known } = await narrowed(source, request);
  const plan = planRead(near, request, MAX_LIMIT, true);
  const { window } = plan;
  const counted: Counted = { source, request, plan, known };
  if (window.kind === 'page') return numberedPage(warehouse, counted, { ...plan, window }, options);
  const lines = { limit: window.limit ?? MAX_LIMIT, waits: plan.beyond !== undefined };
  const { body, seen } = await runLines(warehouse, plan, lines, options);
  let total = 0;
  const rows = thenAwait(body, async () => {
    if (!seen.cut) total = seen.rows;
    else total = seen.beyond === undefined ? await countMatches(warehouse, counted, options) : Number(seen.beyond);
  });
  const counts = () => ({ rows: seen.rows, totalRows: total, truncated: seen.cut, page: 1, pageSize: seen.rows, totalPages: 1 });
  return { columns: columnInfo(plan), rows, counts, edges: null };
};

const counting = (source: Readable, format: StreamFormat, seen: LineCount | undefined): Readable => {
  if (format !== 'json' && !seen) return source;
  const counted = seen ?? { rows: 0, cut: false };
  return streamChunks(format === 'json' ? wrapJsonArray(source, counted) : countRecords(source, format, counted), source);
};

/** Counts the rows that `readStream` gives for the same request. Throws the planner's 400s. */
export const countDownload = async (
  warehouse: Warehouse,
  source: TableSource,
  request: ReadRequest,
  given: RunOptions = {},
): Promise<number> => {
  const options = named(source, given);
  const { near, known } = await narrowed(source, request);
  const plan = planRead(near, request, null);
  const { window } = plan;
  const total = await countMatches(warehouse, { source, request, plan, known }, options);
  if (window.kind === 'limit') return Math.min(total, window.limit ?? total);
  return Math.max(0, Math.min(window.pageSize, total - (window.page - 1) * window.pageSize));
};

/** The mean bytes of a row in the files of a source; undefined where they are not known. */
function rowBytesOf({ extents = [] }: TableSource): number | undefined {
  const rows = extents.reduce((sum, { rowCount }) => sum + rowCount, 0);
  return rows === 0 ? undefined : extents.reduce((sum, { byteCount = 0 }) => sum + byteCount, 0) / rows;
}

/** Streams every matching row, or the page or limit that was asked for, as bytes. Throws the planner's 400s. A failure midway destroys `body`, which never ends then. */
export const readStream = async (warehouse: Warehouse, source: TableSource, request: ReadRequest, options: DownloadOptions) => {
  const { format, raw = false, seen, ...run } = named(source, options);
  const { near, known } = await narrowed(source, request);
  const plan = planRead(near, request, null);
  const { window } = plan;
  const columns = columnInfo(plan);
  /** Whether the request's limit left rows out. It settles before the bytes end. */
  const truncated =
    window.kind === 'limit' && window.limit !== null
      ? countMatches(warehouse, { source, request, plan, known }, run).then((total) => total > (window.limit ?? total))
      : Promise.resolve(false);
  truncated.catch(() => undefined);
  const download = { columns, contentType: DOWNLOAD_TYPES[format], truncated };
  if (format === 'arrow' || format === 'parquet') {
    const onRows = (rows: number) => {
      if (seen) seen.rows = rows;
    };
    const statement = compile(printRows(plan, 'typed'), warehouse.dialect);
    return { ...download, body: await warehouse.typed(statement, format, plan.columns, { ...run, onRows, rowBytes: rowBytesOf(near) }) };
  }
  if (format === 'xlsx') {
    // a text cell of a workbook is never run as a formula, so texts need no apostrophe
    const csv = await warehouse.stream(compile(printRows(plan, 'csv'), warehouse.dialect), 'csv', run);
    return { ...download, body: await writeSpreadsheet(csv, plan.columns, seen ?? { rows: 0, cut: false }) };
  }
  const statement = compile(printRows(plan, format === 'csv' ? 'csv' : 'json', !raw), warehouse.dialect);
  const bytes = counting(await streamRows(warehouse, plan, { statement, format }, run), format, seen);
  return { ...download, body: format === 'csv' ? addHeader(printCsvHeader(columns, !raw), bytes) : bytes };
};

/** Lists the distinct values of a column as text, ascending, without nulls and empty text. It asks the manifest where that knows, and the engine where it does not. */
export const readDistinct = async (warehouse: Warehouse, source: TableSource, column: string, limit: number, given: RunOptions = {}) => {
  const options = named(source, given);
  const { rows, type, noted } = planDistinct(source, column, limit);
  const texts = noted && (await source.notedTexts?.(noted));
  if (texts) return { values: texts.slice(0, limit), truncated: texts.length > limit };
  const outputs: Output[] = [{ as: 'c0', name: 'value', expr: { kind: 'column', name: 'c0', type } }];
  const lines = await warehouse.rows(
    compile({ kind: 'print', from: rows, format: 'json', outputs, guard: false }, warehouse.dialect),
    options,
  );
  const members = readJson(`[${lines.map(({ line }) => String(line)).join(',')}]`) as { value: string | number | boolean | null }[];
  const values = members.map(({ value }) => value);
  const present = values.slice(0, limit).filter((value) => value !== null);
  return { values: present.map(String), truncated: values.length > limit };
};

/** Describes a read as `application/vnd.fieldlake.plan+json`: its plan, its statement and the types of its parameters, without the values. It is not run. */
export const describePlan = (dialect: Dialect, source: TableSource, request: ReadRequest) => {
  const plan = planRead(source, request, MAX_LIMIT);
  const { sql, values } = compile(printRows(plan, 'json'), dialect);
  return {
    plan: withoutValues(plan.rows),
    statement: sql,
    parameters: values.map(({ type }) => ({ type: printType(type) })),
    columns: columnInfo(plan),
  };
};

const withoutValues = (plan: Plan): Plan =>
  readJson(
    JSON.stringify(plan, (key, value: unknown) => {
      if (key === 'files') return undefined;
      if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'value') return { ...value, value: undefined };
      return typeof value === 'bigint' ? String(value) : value;
    }),
  ) as Plan;
