/** The engine behind the Thrift server of the tests: DuckDB, asked in Databricks' SQL, answering in Arrow batches. */
import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult, DuckDBType } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { duckdbText } from './databricks-text.ts';
import type { WireParameter } from './databricks-text.ts';

export interface EngineColumn {
  name: string;
  /** Spark's name, such as `DECIMAL`. */
  type: string;
  precision?: number;
  scale?: number;
}

export interface EngineBatch {
  /** One encapsulated record batch message, without schema and end. */
  bytes: Buffer;
  rows: number;
}

export interface EngineResult {
  columns: readonly EngineColumn[];
  /** The encapsulated schema message. */
  schema: Buffer;
  /** The next rows, at most `most`; null after the last. */
  next(most: number): Promise<EngineBatch | null>;
}

export interface EngineRun {
  /** Settles when the first rows are there. */
  result: Promise<EngineResult>;
  /** Stops it, and resolves when the engine has let go. */
  stop(): Promise<void>;
}

export interface Engine {
  start(sql: string, parameters: readonly WireParameter[]): EngineRun;
}

interface Kind {
  name: string;
  type: arrow.DataType;
  value: (of: any) => unknown;
  precision?: number;
  scale?: number;
}

const words = (of: bigint): Uint32Array =>
  new Uint32Array(Array.from({ length: 4 }, (_, at) => Number((of >> BigInt(32 * at)) & 0xffffffffn)));

function kindOf(type: DuckDBType): Kind {
  const name = type.toString();
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(name);
  if (decimal) {
    const [precision, scale] = [Number(decimal[1]), Number(decimal[2])];
    return {
      name: 'DECIMAL',
      type: new arrow.Decimal(scale, precision),
      value: (of: { value: bigint }) => words(of.value),
      precision,
      scale,
    };
  }
  switch (name) {
    case 'BOOLEAN':
      return { name: 'BOOLEAN', type: new arrow.Bool(), value: (of) => of };
    case 'INTEGER':
      return { name: 'INT', type: new arrow.Int32(), value: (of) => of };
    case 'BIGINT':
      return { name: 'BIGINT', type: new arrow.Int64(), value: (of) => of };
    case 'DOUBLE':
      return { name: 'DOUBLE', type: new arrow.Float64(), value: (of) => of };
    case 'VARCHAR':
    case 'JSON':
      return { name: 'STRING', type: new arrow.Utf8(), value: (of) => of };
    default:
      throw new Error(`[UNSUPPORTED_ARROWTYPE] A column of type ${name} has no batch here.`);
  }
}

const END = 8;

function encode(schema: arrow.Schema, table?: arrow.Table): Buffer {
  const writer = new arrow.RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  if (table) for (const batch of table.batches) writer.write(batch);
  writer.finish();
  return Buffer.from(writer.toUint8Array(true));
}

class Answer {
  readonly columns: readonly EngineColumn[];
  readonly schema: Buffer;
  readonly #schema: arrow.Schema;
  readonly #kinds: readonly Kind[];
  readonly #result: DuckDBResult;
  #rows: unknown[][] = [];
  #ended = false;

  constructor(result: DuckDBResult) {
    const names = result.columnNames();
    this.#result = result;
    this.#kinds = result.columnTypes().map(kindOf);
    this.#schema = new arrow.Schema(this.#kinds.map(({ type }, at) => new arrow.Field(names[at]!, type, true)));
    this.columns = this.#kinds.map(({ name, precision, scale }, at) => ({ name: names[at]!, type: name, precision, scale }));
    this.schema = encode(this.#schema).subarray(0, -END);
  }

  async fill(most: number): Promise<void> {
    while (!this.#ended && this.#rows.length < most) {
      const chunk = await this.#result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) this.#ended = true;
      else this.#rows.push(...chunk.getRows());
    }
  }

  async next(most: number): Promise<EngineBatch | null> {
    await this.fill(most);
    const rows = this.#rows.splice(0, most);
    if (rows.length === 0) return null;
    const children = this.#kinds.map(({ type, value }, at) => {
      const builder = arrow.makeBuilder({ type, nullValues: [null] });
      for (const row of rows) builder.append(row[at] === null ? null : value(row[at]));
      return builder.finish().flush();
    });
    const struct = arrow.makeData({ type: new arrow.Struct(this.#schema.fields), length: rows.length, nullCount: 0, children });
    const whole = encode(this.#schema, new arrow.Table(this.#schema, [new arrow.RecordBatch(this.#schema, struct)]));
    return { bytes: whole.subarray(this.schema.length, -END), rows: rows.length };
  }
}

/** The rows of a version of a Delta table, as a SELECT in DuckDB's words; throws where there is none. */
export type FindVersion = (url: string, version: number) => string;

const LIVE = /"([a-z0-9]+:\/\/[^"]+)@(\d+)"/g;

/** DuckDB in memory; `find` says what lies under a Delta table's path. */
export class DuckDbEngine implements Engine {
  readonly #instance: DuckDBInstance;
  readonly #find: FindVersion;
  readonly #made = new Map<string, Promise<void>>();
  /** What stands for statements that DuckDB has no word for: a SELECT of their answer. */
  readonly answers = new Map<RegExp, () => string>([[/^select current_timezone\(\) as z$/, () => `select 'UTC' as z`]]);
  /** Statements that the engine has not let go of. */
  running = 0;

  private constructor(instance: DuckDBInstance, find: FindVersion) {
    this.#instance = instance;
    this.#find = find;
  }

  static async open(find: FindVersion): Promise<DuckDbEngine> {
    const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1GB' });
    const engine = new DuckDbEngine(instance, find);
    await engine.run(`set global timezone = 'UTC'`);
    return engine;
  }

  async run(...statements: readonly string[]): Promise<void> {
    const connection = await this.#instance.connect();
    try {
      for (const statement of statements) await connection.run(statement);
    } finally {
      connection.closeSync();
    }
  }

  /** Makes a view of each version that a statement reads. */
  async #prepare(text: string): Promise<void> {
    for (const [, url = '', version = ''] of text.matchAll(LIVE)) {
      const name = `${url}@${version}`;
      if (!this.#made.has(name)) this.#made.set(name, this.run(`create view "${name}" as ${this.#find(url, Number(version))}`));
      await this.#made.get(name);
    }
  }

  start(sql: string, parameters: readonly WireParameter[]): EngineRun {
    let connection: DuckDBConnection | undefined;
    let stopped = false;
    let busy: Promise<unknown> = Promise.resolve();
    const result = (async (): Promise<EngineResult> => {
      const [, said] = [...this.answers].find(([pattern]) => pattern.test(sql)) ?? [];
      const text = said?.() ?? duckdbText(sql, parameters);
      await this.#prepare(text);
      connection = await this.#instance.connect();
      this.running += 1;
      if (stopped) throw new Error('The statement was cancelled.');
      const answer = new Answer(await connection.stream(text));
      await answer.fill(1);
      const next = (most: number) => {
        const batch = answer.next(most);
        busy = batch.catch(() => undefined);
        return batch;
      };
      return { columns: answer.columns, schema: answer.schema, next };
    })();
    result.catch(() => undefined);
    const stop = async () => {
      if (stopped) return;
      stopped = true;
      connection?.interrupt();
      // an interrupt that arrives while a statement is being planned is forgotten by the engine: repeat it
      const again = setInterval(() => connection?.interrupt(), 20);
      await result.catch(() => undefined);
      await busy;
      clearInterval(again);
      if (!connection) return;
      connection.closeSync();
      this.running -= 1;
    };
    return { result, stop };
  }

  close(): void {
    this.#instance.closeSync();
  }
}
