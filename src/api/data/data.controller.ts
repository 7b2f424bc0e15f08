import type { Request as HttpRequest } from 'express';
import { Get, Middlewares, Path, Produces, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { openTable, type OpenTable } from '../../authorization/tables.ts';
import { errors } from '../../errors.ts';
import { readJson } from '../../json.ts';
import { setCursorLinks, isUnmodified, sendStream, sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { measureStage } from '../../http/exchange.ts';
import { requireTable, getTable } from '../../http/tables.ts';
import { framePage } from '../../lakehouse/read/page-frame.ts';
import { describePlan, readDistinct, readPage, readStream, type Page } from '../../lakehouse/read/read.ts';
import type { DataPage, DistinctValues, TableDescriptor } from './data.model.ts';
import { findShare, makeCacheKey, printDataTag, describeTables, openSource } from './data.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { makeCursors, placeRead } from './paging.service.ts';
import { makeFileName } from '../../storage/file-name.ts';
import type { TableAsked } from '../resources/resources.model.ts';

const PLAN = 'application/vnd.fieldlake.plan+json';
const TYPES = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;
type Format = keyof typeof TYPES;
const FORMATS = new Map(Object.entries(TYPES).map(([format, type]): [string, Format] => [type, format as Format]));
const OFFERED = ['application/json', ...FORMATS.keys(), PLAN];
const BOM = Buffer.from('\uFEFF');
const STREAM_TIMEOUT_MS = 600_000;

interface VersionQuery extends TableAsked {
  /**
   * Reads the table as it was in this version, which an earlier answer named in X-Table-Version; the newest one when absent.
   * @isInt
   * @minimum 0
   * @maximum 2147483647
   */
  asOf?: number;
}

interface ReadQuery extends VersionQuery {
  /**
   * Columns to send, separated by commas, or a JSON array of names; at most 1,000, every column when absent. A name with a comma or dot is quoted:
   * `"a.b"`. A dot reaches into a struct, `contributor.name`, or a document: `data.phi2` is text, `data.phi2::double` a number. A document's types
   * are string, double, bigint, boolean, date and timestamp; what it lacks, or cannot be read so, is null. Members stand wherever a column is named.
   */
  columns?: string;
  /**
   * Column to order by; the table's `defaultSortColumn` when absent. An aggregated read is ordered by one of its own columns, by its group keys when
   * absent.
   */
  orderBy?: string;
  /** `ASC`: smallest or oldest first, the default. `DESC`: largest or newest first. */
  orderDirection?: 'ASC' | 'DESC';
  /**
   * JSON array of `{column, operator, value}`, at most 100, all of which must hold. Operators: equals, not_equals, greater_than, less_than,
   * greater_than_or_equal, less_than_or_equal, between (an array of two values), contains, starts_with, in and not_in (an array of at most 1,000),
   * is_null, is_not_null, has_flag, has_no_flag. `equals` with `""` finds empty text, `is_null` what has no value; `not_equals`
   * and `not_in` find what has no value, too. A time without an offset is in UTC. `has_flag` and `has_no_flag` on `annotations` take a flag type, or an array of them, one of which is enough.
   */
  filters?: string;
  /**
   * JSON object `{groupBy: [{column, timeBucket, timezone}], functions: [{column, function, alias, secondColumn}]}`, with at most 20 keys and 100
   * functions. Time buckets: minute, hour, day, week, month, quarter, year; the timezone is an IANA name such as `Europe/Berlin`, UTC when absent.
   * Functions: sum, avg, count, min, max, std, var, sem (standard error of the mean), ci95 (half of its 95 % confidence interval, right to six
   * digits), median, p05, p95, first, last, cumsum, corr (with `secondColumn`), count_distinct.
   */
  aggregation?: string;
  /**
   * Page to answer, counted from 1; 1 by default. Without `page` and `pageSize` a stream holds every row.
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * Rows of one page, 1 to 100; 100 by default.
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
  /**
   * Rows at most, 0 to 100,000; ignored with page or pageSize.
   * @isInt
   * @minimum 0
   * @maximum 100000
   */
  limit?: number;
  /**
   * Instead of `page`: a place that the Link header of a page named. Pages from cursors are as quick at the end of a table as at its beginning, and
   * stay with the version of the table that the first of them was read from.
   * @minLength 1
   * @maxLength 8192
   */
  cursor?: string;
  /** CSV only: leave out the apostrophe before text that a spreadsheet would run as a formula; false by default. */
  raw?: boolean;
  /** Form of the answer. Beats `Accept`, for whoever cannot set a header. */
  format?: 'json' | keyof typeof TYPES;
  /** CSV only: begin with the mark by which Excel knows UTF-8; false by default. */
  bom?: boolean;
}

interface DistinctQuery extends VersionQuery {
  /**
   * Column whose values are asked for; a dot reaches into a struct or document, as in `columns` of a read.
   * @minLength 1
   */
  column: string;
  /**
   * Values at most, 0 to 1,000; 200 by default.
   * @isInt
   * @minimum 0
   * @maximum 1000
   */
  limit?: number;
}

/** The content type of the answer: `format` beats `Accept`, which may be left out. Errors: notAcceptable. */
function acceptedOf(request: HttpRequest, format: ReadQuery['format']): string {
  if (format !== undefined) return format === 'json' ? 'application/json' : TYPES[format];
  const accepted = request.accepts(OFFERED);
  if (accepted === false) throw errors.notAcceptable(OFFERED.join(', '));
  return accepted;
}

@Route('api/v1/experiments/{id}')
@Tags('Data')
export class DataController extends ApiController {
  /**
   * For everybody who may read the experiment. Answers every table with its columns: measurements and devices first, then what macros made of them,
   * then uploads. `canRead` says whether you may read the rows: raw and uploaded rows need more than the experiment's being public. X-Total-Count says
   * how many there are, and Link leads to the other pages.
   * @summary List the tables of an experiment
   */
  @Get('tables')
  @Security('caller', ['experiment:read'])
  public async listTables(@Path() id: string, @Queries() page: ListPage): Promise<TableDescriptor[]> {
    return sliceList(this.response, await describeTables(this.ctx, this.caller.userId, id), page);
  }

  /**
   * For everybody who may read the experiment; raw and uploaded rows need contribute access, else TABLE_DENIED (403). Rows come plain, filtered,
   * projected or aggregated. JSON gives one page of 100 plain rows, or every group of an aggregation up to 100,000, unless `page`, `pageSize` or
   * `limit` say otherwise; the `Link` header of a page of plain rows leads to the next and the previous one by `cursor`, if the
   * query is not too long to repeat; `page` always works. An address may have 64 kB; longer filters go into the body of an export. CSV, NDJSON, Arrow and
   * Parquet (by `format` or `Accept`) stream every matching row, and the trailer `X-Truncated` says whether a limit left rows behind (over HTTP/1.1;
   * HTTP/1.0 has no trailers), beside `ETag` and `X-Table-Version` once more. What the table cannot answer refuses with QUERY_REFUSED, unreadable
   * parameters with INVALID_INPUT (400), a version that is not kept with TABLE_VERSION_GONE (410), too many statements at once with CALLER_BUSY (429), and what takes too long with
   * WAREHOUSE_TIMEOUT (504).
   * @summary Read rows of a table
   */
  @Get('data')
  @Security('caller', ['experiment:read'])
  @Middlewares(requireTable)
  @Produces('application/json')
  public async readData(@Path() id: string, @Queries() query: ReadQuery): Promise<DataPage[]> {
    const table = getTable(this.request);
    const accept = acceptedOf(this.request, query.format);
    const format = FORMATS.get(accept);
    const { asked, version } = placeRead(this.ctx, table, query, format !== undefined);
    const source = await measureStage(this.exchange, 'plan', () => openSource(this.ctx, table, version));
    this.response.setHeader('X-Table-Version', source.version);
    this.response.vary('Accept');
    if (accept === PLAN) {
      // the plan shows how the rows are kept, so it is for those who may read all of them
      if (table.kind !== 'raw_data' && table.kind !== 'upload') await openTable(this.ctx.db, this.caller.userId, id, 'raw_data');
      const chosen = await this.ctx.reads.choose(source, asked);
      const description = describePlan(chosen.warehouse.dialect, chosen.source, asked);
      this.response.type(PLAN).send(JSON.stringify(description));
      return [];
    }
    const answered = { source, asked: { query: this.request.query, accept } };
    if (isUnmodified(this.response, printDataTag(this.ctx, table, answered))) return [];
    const key = makeCacheKey(this.ctx, table, answered);
    const kept = format ? null : this.ctx.pages.find(key);
    if (kept) return this.#page(table, { page: kept, query, version: source.version });
    const release = await this.#share(table);
    // what a HEAD or an answer without a trailer does not wait for ends with it
    const answeredAll = new AbortController();
    const options = { signal: AbortSignal.any([this.exchange.signal, answeredAll.signal]), tag: this.exchange.requestId };
    try {
      const chosen = await this.ctx.reads.choose(source, asked);
      if (format) {
        const reading = { ...options, timeoutMs: STREAM_TIMEOUT_MS, format, raw: query.raw ?? false };
        const download = await measureStage(this.exchange, 'engine', () => readStream(chosen.warehouse, chosen.source, asked, reading));
        const names = [
          { name: table.experimentName, id: table.experimentId },
          { name: table.name ?? table.identifier, id: table.identifier },
        ] as const;
        this.response.attachment(makeFileName(...names, new Date(), format));
        // after the name, by whose ending express would set it
        this.response.type(download.contentType);
        if (query.bom === true && format === 'csv') download.body.unshift(BOM);
        const trailers = async () => ({ 'X-Truncated': String(await download.truncated) });
        await sendStream(this.response, download.body, { trailers, isOnlyHere: true });
        return [];
      }
      const reading = { ...options, timeoutMs: this.ctx.config.limits.statementTimeoutMs };
      const page = await measureStage(this.exchange, 'engine', () => readPage(chosen.warehouse, chosen.source, asked, reading));
      return await this.#page(table, { page: this.ctx.pages.keep(key, page), query, version: source.version });
    } finally {
      answeredAll.abort();
      release();
    }
  }

  async #page(table: OpenTable, { page, query, version }: { page: Page; query: ReadQuery; version: string }): Promise<DataPage[]> {
    setCursorLinks(this.response, makeCursors(this.ctx, table, query, { edges: page.edges, version }));
    const names = { name: query.tableName, catalog_name: table.experimentName, schema_name: 'fieldlake' };
    this.response.type('application/json');
    await sendStream(this.response, framePage(page, names));
    return [];
  }

  /**
   * For everybody who may read the experiment; raw and uploaded rows need contribute access, else TABLE_DENIED (403). Answers the values in ascending
   * order, as text, without nulls and empty text. A column that the table does not have refuses with QUERY_REFUSED (400).
   * @summary List the distinct values of a column
   */
  @Get('data/distinct')
  @Security('caller', ['experiment:read'])
  @Middlewares(requireTable)
  public async listDistinctValues(@Path('id') _id: string, @Queries() query: DistinctQuery): Promise<DistinctValues> {
    const table = getTable(this.request);
    const source = await measureStage(this.exchange, 'plan', () => openSource(this.ctx, table, query.asOf));
    this.response.setHeader('X-Table-Version', source.version);
    const key = makeCacheKey(this.ctx, table, { source, asked: { distinct: query } });
    const kept = this.ctx.pages.findText(key);
    if (kept !== null) return readJson(kept) as DistinctValues;
    const release = await this.#share(table);
    try {
      const chosen = await this.ctx.reads.choose(source);
      const reading = {
        signal: this.exchange.signal,
        timeoutMs: this.ctx.config.limits.statementTimeoutMs,
        tag: this.exchange.requestId,
      };
      const { values, truncated } = await measureStage(this.exchange, 'engine', () =>
        readDistinct(chosen.warehouse, chosen.source, query.column, query.limit ?? 200, reading),
      );
      const answer: DistinctValues = { values, truncated };
      this.ctx.pages.keepText(key, JSON.stringify(answer));
      return answer;
    } finally {
      release();
    }
  }

  /** Waits for a share of the engine; Server-Timing says how long. */
  #share(table: OpenTable): Promise<() => void> {
    return measureStage(this.exchange, 'wait', () => this.ctx.shares.acquire(findShare(this.caller, table), this.exchange.signal));
  }
}
