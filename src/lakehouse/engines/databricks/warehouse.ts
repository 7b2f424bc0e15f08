/** Reads tables by Databricks SQL, through its own driver: the reading half of a warehouse whose tables are Delta. */
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DBSQLClient } from '@databricks/sql';
import { stringify } from 'csv-stringify/sync';
import { ApiError, errors } from '../../../errors.ts';
import type { Dialect } from '../../terms/dialect.ts';
import { makeDatabricks } from '../../compile/dialects/databricks.ts';
import { Stop } from '../../terms/stop.ts';
import type { NamedType, RunOptions, Statement, StreamFormat, TypedFormat, TypedOptions, Warehouse } from '../../terms/warehouse.ts';
import { writeArrow, writeParquet } from './typed.ts';
import { connect, type DatabricksOptions } from './client.ts';
import { translateFailure, classifyFailure, type Failure } from './failures.ts';
import { DatabricksSessions, type Lease, type OpenSession } from './sessions.ts';
import { bindStatement, startStatement, type Row, type RunningStatement } from './statement.ts';

const LONGEST_PAUSE_MS = 30_000;
/** How long after failures that are met once, in milliseconds, a read is sent again. */
const ONCE: Partial<Record<Failure, number>> = { 'session-lost': 0, unreachable: 200 };
/** How long the server itself lets a statement run. */
const LONGEST_STATEMENT_SECONDS = '3600';
/** How long after its deadline an answer ends that nobody reads. */
const UNREAD_MS = 100;

const exact = (row: Row): Row => {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'bigint') row[name] = String(value);
    else if (value instanceof Date)
      throw errors.internal().with({ cause: new Error(`Column ${name} is a time; print it as text in SQL.`) });
  }
  return row;
};

/** The form of CSV that DuckDB writes too: an empty text is quoted, so that it is not taken for null. */
const CSV = {
  record_delimiter: '\n',
  quoted_match: /\r/,
  cast: { string: (value: string) => (value === '' ? { value, quoted_empty: true } : value) },
} as const;

const printLines = (rows: readonly Row[]) => rows.map((row) => `${String(row.line)}\n`).join('');
const PRINTED: Record<StreamFormat, (rows: readonly Row[]) => string> = {
  csv: (rows) => stringify(rows.map(Object.values<unknown>), CSV),
  json: printLines,
  ndjson: printLines,
};

export class DatabricksWarehouse implements Warehouse {
  readonly name = 'databricks';
  readonly dialect: Dialect;
  readonly #client: DBSQLClient;
  readonly #sessions: DatabricksSessions;
  readonly #options: DatabricksOptions;
  readonly #ownsClient: boolean;

  private constructor(client: DBSQLClient, options: DatabricksOptions, ownsClient: boolean) {
    this.#options = options;
    this.dialect = makeDatabricks(options.lakeUrl);
    this.#ownsClient = ownsClient;
    const { catalog, statements = 8, idleMs = 600_000 } = options;
    const configuration = { TIMEZONE: 'UTC', ANSI_MODE: 'true', STATEMENT_TIMEOUT: LONGEST_STATEMENT_SECONDS };
    const open: OpenSession = () => client.openSession({ initialCatalog: catalog, configuration, queryTags: { application: 'fieldlake' } });
    this.#client = client;
    this.#sessions = new DatabricksSessions(open, { most: statements, idleMs });
  }

  /** Prepares one client for a warehouse; nothing is sent before the first statement. */
  static async open(options: DatabricksOptions): Promise<DatabricksWarehouse> {
    return new DatabricksWarehouse(await connect(options), options, true);
  }

  /** Makes a warehouse with sessions of its own over the same client, for statements that must not wait behind others. It must be closed before this one. */
  beside(statements: number): DatabricksWarehouse {
    return new DatabricksWarehouse(this.#client, { ...this.#options, statements }, false);
  }

  get running(): number {
    return this.#sessions.inUse;
  }

  async rows(statement: Statement, options: RunOptions = {}): Promise<Record<string, unknown>[]> {
    const all: Row[] = [];
    for await (const rows of this.#pages(statement, options)) for (const row of rows) all.push(exact(row));
    return all;
  }

  async stream(statement: Statement, format: StreamFormat, options: RunOptions = {}): Promise<Readable> {
    const print = PRINTED[format];
    const lines = async function* (pages: AsyncGenerator<Row[]>) {
      for await (const rows of pages) yield Buffer.from(print(rows));
    };
    return this.#body(statement, options, lines);
  }

  async typed(
    statement: Statement,
    format: TypedFormat,
    columns: readonly NamedType[],
    { onRows, ...options }: TypedOptions = {},
  ): Promise<Readable> {
    const { temporaryFolder = tmpdir() } = this.#options;
    const bytes = (pages: AsyncGenerator<Row[]>) =>
      format === 'arrow' ? writeArrow(pages, columns, onRows) : writeParquet(pages, columns, { temporaryFolder, onRows });
    return this.#body(statement, options, bytes);
  }

  /** Makes a body of the pages of a statement. A page is asked for only when the reader has room for it. */
  #body(statement: Statement, options: RunOptions, make: (pages: AsyncGenerator<Row[]>) => AsyncGenerator<Buffer>): Readable {
    const gone = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, gone.signal]) : gone.signal;
    const made = make(this.#pages(statement, { ...options, signal }));
    const { timeoutMs } = options;
    const body = new Readable({
      read() {
        made.next().then(
          ({ done, value }) => this.push(done ? null : value),
          (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
        );
      },
      destroy(error, done) {
        clearTimeout(late);
        gone.abort(error ?? new Error('Nobody reads this any more.'));
        made.return(undefined).then(
          () => done(error),
          () => done(error),
        );
      },
    });
    // a full body that nobody reads asks for no page, so no page would tell it of the deadline
    const late = timeoutMs === undefined ? undefined : setTimeout(() => body.destroy(errors.warehouseTimeout()), timeoutMs + UNREAD_MS);
    return body;
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    // the server may be dead and confirm nothing; that is no error here
    if (this.#ownsClient) await this.#client.close().catch(() => undefined);
  }

  /**
   * Reads the pages of a statement. Before the first page is handed over, the statement may be sent again: once when its session died, once when the connection
   * broke, and for a bounded time while the warehouse starts. After that it is never sent again, so no row comes twice.
   */
  async *#pages(statement: Statement, options: RunOptions): AsyncGenerator<Row[]> {
    const bound = bindStatement(statement);
    const again = new Again(this.#options);
    const stop = new Stop(options, () => (again.starting ? translateFailure('starting', undefined) : errors.warehouseTimeout()));
    try {
      for (;;) {
        let lease: Lease | undefined;
        let running: RunningStatement | undefined;
        let passed = false;
        let how: Parameters<RunningStatement['end']>[0] = 'left';
        try {
          lease = await this.#sessions.acquire(stop.signal);
          running = await startStatement(this.#sessions, lease, bound, { signal: stop.signal, tag: options.tag });
          for await (const rows of running.pages()) {
            passed = true;
            yield rows;
          }
          how = 'read';
          return;
        } catch (error) {
          if (stop.signal.aborted) throw stop.signal.reason;
          if (error instanceof ApiError) throw error;
          const failure = classifyFailure(error);
          how = failure === 'session-lost' || failure === 'unreachable' || failure === 'starting' ? 'in doubt' : 'failed';
          const pause = passed ? null : again.pauseAfter(failure, lease?.reused === true);
          if (pause === null) throw translateFailure(passed ? failure : again.meaning(failure, lease), error);
          if (failure === 'session-lost') this.#sessions.forget();
          running?.end(how);
          running = undefined;
          await sleep(pause, undefined, { signal: stop.signal }).catch(() => stop.signal.throwIfAborted());
        } finally {
          running?.end(how);
        }
      }
    } finally {
      stop.clear();
    }
  }
}

/** Decides whether, and after how long, a read is sent again. */
class Again {
  /** True when the warehouse was last heard to be starting. The error of the deadline then says this. */
  starting = false;
  readonly #met = new Set<Failure>();
  #pause: number;
  readonly #until: number;

  constructor({ startMs = 300_000, startPauseMs = 1_000 }: Pick<DatabricksOptions, 'startMs' | 'startPauseMs'>) {
    this.#until = performance.now() + startMs;
    this.#pause = startPauseMs;
  }

  /** Corrects what a failure means: a stopped warehouse answers as if it did not know a session that was opened just now. */
  meaning(failure: Failure, lease: Pick<Lease, 'reused'> | undefined): Failure {
    return failure === 'session-lost' && lease?.reused === false ? 'starting' : failure;
  }

  /** Milliseconds to wait before the read is sent again; null when it is not. */
  pauseAfter(failure: Failure, reused: boolean): number | null {
    const meant = this.meaning(failure, { reused });
    if (meant === 'starting') {
      this.starting = true;
      const pause = this.#pause;
      this.#pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      return performance.now() + pause > this.#until ? null : pause;
    }
    const pause = this.#met.has(meant) ? undefined : ONCE[meant];
    this.#met.add(meant);
    return pause ?? null;
  }
}
