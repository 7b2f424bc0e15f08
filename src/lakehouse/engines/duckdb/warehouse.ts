/** The embedded warehouse: DuckDB in memory over Parquet files that the manifest lists. */
import { once } from 'node:events';
import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PassThrough, finished, type Readable } from 'node:stream';
import { BIGINT, BOOLEAN, DOUBLE, INTEGER, LIST, ResultReturnType, VARCHAR, listValue } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { errors } from '../../../errors.ts';
import { duckdb } from '../../compile/dialects/duckdb.ts';
import type { LakeFiles } from '../../tables/files/files.ts';
import { openFolderFiles } from '../../tables/files/folder.ts';
import { isOutOfMemory } from '../../terms/memory.ts';
import { quoteText } from '../../terms/quoting.ts';
import { makeStopError } from '../../terms/stop.ts';
import type { NamedType, RunOptions, Statement, StreamFormat, TypedFormat, TypedOptions, Warehouse } from '../../terms/warehouse.ts';
import type { BoundValue } from '../../terms/dialect.ts';
import { makeScratch, removeScratch } from './scratch.ts';
import { explainFailure } from './damage.ts';
import { makeBoundedConverter } from './bounded.ts';
import type { Work } from './connections.ts';
import { openEngine, type Engine } from './engine.ts';
import { Pipes } from './pipe.ts';

export interface DuckDbOptions {
  lakeFolder: string;
  /** The lake's files. When not given, they are in the folder on this machine alone. */
  files?: LakeFiles;
  /** The folder in which a private folder for spilling and pipes is made. */
  temporaryFolder: string;
  /** Threads of each of the two engines, shared by its statements. */
  threads?: number;
  /** The memory limit of each engine, such as `2GB`. The engine spills beyond it and never exceeds it by much. */
  memoryLimit?: string;
  /** How many statements each engine runs at once. Further ones wait. */
  connections?: number;
  /** How many streams of text may use every thread at the same time, each in up to 200 MB. One thread each prints further streams, in 30 MB. One by default. */
  wideStreams?: number;
  /** Whether statements report how much they have read. */
  tellsReading?: boolean;
}

/** Turns a bound value into the driver's value and type. An array is a list of files, relative to the lake folder. The statement casts everything else. */
const valueOf = ({ type, value }: BoundValue, lake: string): { value: DuckDBValue; type: DuckDBType } => {
  if (typeof value === 'object' && value !== null)
    return { value: listValue(value.map((path) => resolve(lake, String(path)))), type: LIST(VARCHAR) };
  if (typeof value === 'bigint') return { value, type: BIGINT };
  if (typeof value === 'boolean') return { value, type: BOOLEAN };
  if (typeof value === 'number') return { value, type: type.kind === 'int' ? INTEGER : DOUBLE };
  return { value, type: VARCHAR };
};

/** The files of the lake that a statement reads. */
const filesOf = (statement: Statement, lake: string): string[] =>
  statement.values.flatMap(({ value }) =>
    typeof value === 'object' && value !== null ? value.map((path) => resolve(lake, String(path))) : [],
  );

/** A statement whose files are on this machine until `release` is called. */
interface Held extends Statement {
  files: readonly string[];
  release: () => void;
}

const bindings = (statement: Statement, lake: string): [DuckDBValue[], DuckDBType[]] => {
  const bound = statement.values.map((value) => valueOf(value, lake));
  return [bound.map(({ value }) => value), bound.map(({ type }) => type)];
};

const COPY_OPTIONS: Record<StreamFormat, string> = {
  csv: `format csv, header false, delimiter ',', quote '"', escape '"', nullstr ''`,
  // printed JSON holds no control characters, so nothing needs quotes; if a quote were set, the engine would quote a line with a #
  json: `format csv, header false, delimiter '\u0001', quote '', escape ''`,
  ndjson: `format csv, header false, delimiter '\u0001', quote '', escape ''`,
};

/** The rows of a Parquet row group, a tenth of the engine's own 122,880: it holds a row group until it is whole, and sends nothing before the first. */
const MOST_GROUP_ROWS = 12_288;
/** About what a row group of wide rows takes in the files that it is read from. The engine cuts none within a vector of 2,048 rows. */
const GROUP_BYTES = 4 * 1_048_576;

/** Prints the options of Parquet, which the engine writes from front to back too, because its footer comes last. */
const printParquetOptions = (rowBytes = 1) =>
  `format parquet, compression snappy, row_group_size ${Math.ceil(Math.min(MOST_GROUP_ROWS, GROUP_BYTES / rowBytes))}`;

/**
 * Wraps a statement in a join, so that one thread of the engine runs it, row by row and in order, and keeps nothing of it in memory. The engine does so with
 * everything above a hash join. The condition of this join is true of every row, but the engine cannot know that before.
 */
const narrow = (sql: string) => `select * from (\n${sql}\n) where (random() < 2) in (select x from (values (true), (false)) t(x))`;

/** Bytes that are made ahead while the caller still takes earlier ones: as many as the largest batch has. With less, the engine and the caller would wait for each other. */
const AHEAD_BYTES = 4_194_304;

/** Makes a stream keep its failure for its reader. A failure without a listener would end the process. */
const heldFor = <T extends Readable>(body: T): T => body.on('error', () => undefined);

/** Asks for the next rows. A failure is seen where the rows are awaited, if anywhere. */
const nextOf = (result: DuckDBResult) => {
  const coming = result.fetchChunk();
  coming.catch(() => undefined);
  return coming;
};

const hasMore = (result: DuckDBResult): Promise<boolean> =>
  result.fetchChunk().then(
    (chunk) => chunk !== null && chunk.rowCount > 0,
    () => false,
  );

export class DuckDbWarehouse implements Warehouse {
  readonly name = 'duckdb';
  readonly dialect = duckdb;
  readonly #reads: Engine;
  readonly #copies: Engine;
  readonly #scratch: string;
  readonly #pipes: Pipes;
  readonly #lake: string;
  readonly #files: LakeFiles;
  #wideLeft: number;

  private constructor(
    engines: Record<'reads' | 'copies', Engine>,
    { scratch, lake, files }: Record<'scratch' | 'lake', string> & { files: LakeFiles },
    wide: number,
  ) {
    this.#reads = engines.reads;
    this.#copies = engines.copies;
    this.#scratch = scratch;
    this.#pipes = new Pipes(scratch);
    this.#lake = lake;
    this.#files = files;
    this.#wideLeft = wide;
  }

  /** Opens two engines, one for rows that are handed out and one for files that the engine writes, so that neither waits for the other. */
  static async open({
    lakeFolder,
    files = openFolderFiles(lakeFolder),
    temporaryFolder,
    threads = 2,
    memoryLimit = '1GB',
    connections = 8,
    wideStreams = 1,
    tellsReading = false,
  }: DuckDbOptions): Promise<DuckDbWarehouse> {
    await mkdir(lakeFolder, { recursive: true });
    const scratch = await makeScratch(temporaryFolder);
    const lake = await realpath(lakeFolder);
    const options = { scratch, lake, threads, memoryLimit, connections, tellsReading };
    const reads = await openEngine('reads', options);
    const copies = await openEngine('copies', options).catch((error: unknown) => {
      reads.close();
      throw error;
    });
    const warehouse = new DuckDbWarehouse({ reads, copies }, { scratch, lake, files }, wideStreams);
    // a stream that finds no pipe says why
    void warehouse.#pipes.fill().catch(() => undefined);
    return warehouse;
  }

  get running(): number {
    return this.#reads.connections.running + this.#copies.connections.running;
  }

  async rows(statement: Statement, options: RunOptions = {}): Promise<Record<string, unknown>[]> {
    return this.#use(this.#reads, await this.#hold(statement, options), options, async (connection) => {
      const reader = await connection.runAndReadAll(statement.sql, ...bindings(statement, this.#lake));
      return reader.convertRowObjects(makeBoundedConverter());
    });
  }

  async stream(statement: Statement, format: StreamFormat, options: RunOptions = {}): Promise<Readable> {
    return this.#pipe(await this.#hold(statement, options), COPY_OPTIONS[format], options);
  }

  async typed(
    statement: Statement,
    format: TypedFormat,
    columns: readonly NamedType[],
    { onRows, rowBytes, ...options }: TypedOptions = {},
  ): Promise<Readable> {
    const names = columns.map(({ as, name }) => `${duckdb.quote(as)} as ${duckdb.quote(name)}`).join(', ');
    const named = { sql: `select ${names} from (\n${statement.sql}\n)`, values: statement.values };
    const held = await this.#hold(named, options);
    return format === 'arrow'
      ? this.#arrow(held, columns, { ...options, onRows })
      : this.#pipe(held, printParquetOptions(rowBytes), options);
  }

  async close(): Promise<void> {
    this.#reads.close();
    this.#copies.close();
    await this.#pipes.close();
    await removeScratch(this.#scratch);
  }

  /** Brings a statement's files to this machine, before any of the answer is sent. */
  async #hold(statement: Statement, options: RunOptions): Promise<Held> {
    const files = filesOf(statement, this.#lake);
    return { ...statement, files, release: await this.#files.hold(files, options) };
  }

  /** Runs a statement on a connection of an engine and then releases its files. When a file of the lake made it fail, the error says so. */
  #use<T>(engine: Engine, { files, release }: Held, options: RunOptions, work: Work<T>): Promise<T> {
    return engine.connections
      .use(options, (connection, stop) =>
        work(connection, stop).catch(async (error: unknown) => {
          if (!stop.aborted && isOutOfMemory(error)) throw errors.readTooLarge().with({ cause: error });
          throw stop.aborted ? error : await explainFailure(connection, error, { files, table: options.table });
        }),
      )
      .finally(release);
  }

  async #copy(connection: DuckDBConnection, statement: Statement, path: string, options: string): Promise<void> {
    // order must be asked for: the engine gives it up above a hash join, and it makes a hash join of a long list of constants
    const sql = `copy (\n${statement.sql}\n) to ${quoteText(path)} (${options}, use_tmp_file false, preserve_order true)`;
    await connection.run(sql, ...bindings(statement, this.#lake));
  }

  /** Copies rows with options. Every thread prints them if one of `wideStreams` is left; otherwise one thread does. */
  async #print(connection: DuckDBConnection, statement: Statement, path: string, options: string): Promise<void> {
    const isWide = this.#wideLeft > 0;
    if (isWide) this.#wideLeft -= 1;
    try {
      await this.#copy(connection, isWide ? statement : { ...statement, sql: narrow(statement.sql) }, path, options);
    } finally {
      if (isWide) this.#wideLeft += 1;
    }
  }

  async #pipe(statement: Held, copyOptions: string, options: RunOptions): Promise<Readable> {
    const pipe = await this.#pipes.open().catch((error: unknown) => {
      statement.release();
      throw error;
    });
    heldFor(pipe.reader);
    const gone = new AbortController();
    pipe.reader.once('close', () => gone.abort());
    const signal = options.signal ? AbortSignal.any([options.signal, gone.signal]) : gone.signal;
    void this.#use(this.#copies, statement, { ...options, signal }, (connection, stop) => {
      // an engine that writes to a full pipe does not notice an interrupt until the pipe's reader is gone
      stop.addEventListener('abort', () => pipe.reader.destroy(makeStopError(stop)), { once: true });
      return this.#print(connection, statement, pipe.path, copyOptions);
    }).then(
      () => pipe.finish(),
      (error: unknown) => pipe.fail(error instanceof Error ? error : new Error(String(error))),
    );
    return pipe.reader;
  }

  #arrow(statement: Held, columns: readonly NamedType[], { onRows, ...options }: TypedOptions): Readable {
    const body = heldFor(new PassThrough({ highWaterMark: AHEAD_BYTES }));
    const gone = new AbortController();
    finished(body, () => gone.abort());
    const signal = options.signal ? AbortSignal.any([options.signal, gone.signal]) : gone.signal;
    const work = async (connection: DuckDBConnection, stop: AbortSignal) => {
      const send = async (pieces: readonly Buffer[]) => {
        for (const piece of pieces) if (!body.write(piece)) await once(body, 'drain', { signal: stop });
      };
      const [{ ArrowStream }, { appendChunk }] = await Promise.all([import('../arrow/stream.ts'), import('./arrow.ts')]);
      const result = await connection.stream(statement.sql, ...bindings(statement, this.#lake));
      const stream = new ArrowStream(columns);
      let whole = false;
      let coming = nextOf(result);
      try {
        // sends nothing before the first rows are there: a failure until then can still become an error answer
        let head: readonly Buffer[] = stream.start();
        for (let chunk = await coming; chunk !== null && chunk.rowCount > 0; chunk = await coming) {
          // the engine makes the next chunk while this one is copied and sent
          coming = nextOf(result);
          appendChunk(stream.columns, columns, chunk);
          await send(head);
          head = [];
          if (!stream.isFull) continue;
          await send(stream.take());
          onRows?.(stream.rows);
        }
        // a result that fails midway ends like a whole one; only its type tells the difference
        if (result.returnType === ResultReturnType.INVALID) throw new Error('The engine gave a result up midway.');
        whole = true;
        await send([...head, ...stream.take()]);
        onRows?.(stream.rows);
        await send(stream.end());
      } finally {
        // the engine lets go of a result only when it is read to its end, or fails
        if (!whole) connection.interrupt();
        await coming.catch(() => undefined);
        while (await hasMore(result));
      }
    };
    // the engine of `reads` fits: batches are copied and freed one by one, so no memory is left to return at once, which cost a fifth of the time
    void this.#use(this.#reads, statement, { ...options, signal }, work).then(
      () => body.end(),
      (error: unknown) => body.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    return body;
  }
}
