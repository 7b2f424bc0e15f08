/**
 * Writes a Parquet file of rows that come page by page from another engine. DuckDB gives them types and writes them in parts, in memory of a fixed size. At the
 * end it joins the parts.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BIGINT, BOOLEAN, DOUBLE, DuckDBDataChunk, DuckDBInstance, VARCHAR } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { ColumnType } from '../../terms/catalog.ts';
import { duckdb } from '../../compile/dialects/duckdb.ts';
import { quoteText } from '../../terms/quoting.ts';
import type { NamedType } from '../../terms/warehouse.ts';

const MEMORY = '256MB';
/** The rows and the characters in memory that are enough for a part. */
const PART_ROWS = 122_880;
const PART_CHARACTERS = 16_000_000;
const CHUNK = 2_048;
const WRITTEN = 'format parquet, compression snappy';

/** Says how a value of a type arrives, and how SQL turns it into that type. Values arrive in the forms of Databricks' `Dialect.typed`. */
const arrival = (type: ColumnType): { as: DuckDBType; sql: string; made: (of: string) => string } => {
  const cast = (of: string) => `cast(${of} as ${duckdb.cast(type)})`;
  switch (type.kind) {
    case 'boolean':
      return { as: BOOLEAN, sql: 'boolean', made: cast };
    case 'int':
    case 'bigint':
      return { as: BIGINT, sql: 'bigint', made: cast };
    case 'double':
      return { as: DOUBLE, sql: 'double', made: cast };
    case 'timestamp':
      return { as: BIGINT, sql: 'bigint', made: (of) => `make_timestamptz(${of})` };
    case 'timestamp_ntz':
      return { as: BIGINT, sql: 'bigint', made: (of) => `make_timestamp(${of})` };
    case 'date':
      return { as: BIGINT, sql: 'bigint', made: (of) => `date '1970-01-01' + cast(${of} as integer)` };
    case 'decimal':
    case 'string':
    case 'variant':
      return { as: VARCHAR, sql: 'varchar', made: cast };
    case 'struct':
    case 'array':
      return { as: VARCHAR, sql: 'varchar', made: (of) => cast(`cast(${of} as json)`) };
  }
};

const given = (type: DuckDBType, value: unknown): DuckDBValue => {
  if (value === null || value === undefined) return null;
  if (type === BIGINT) return typeof value === 'bigint' ? value : BigInt(value as number | string);
  if (type === DOUBLE) return Number(value);
  return type === BOOLEAN ? value === true : (value as string);
};

export class ParquetFile {
  readonly #columns: readonly NamedType[];
  readonly #arrivals: readonly ReturnType<typeof arrival>[];
  readonly #folder: string;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #parts: string[] = [];
  #waiting: (readonly unknown[])[] = [];
  #characters = 0;
  #held = 0;

  private constructor(columns: readonly NamedType[], folder: string, instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#columns = columns;
    this.#arrivals = columns.map(({ type }) => arrival(type));
    this.#folder = folder;
    this.#instance = instance;
    this.#connection = connection;
  }

  /** Begins a file in a folder of its own, which `close` removes. */
  static async open(temporaryFolder: string, columns: readonly NamedType[]): Promise<ParquetFile> {
    const folder = join(temporaryFolder, `parquet-${randomUUID()}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: MEMORY, temp_directory: join(folder, 'spill') });
    const file = new ParquetFile(columns, folder, instance, await instance.connect());
    try {
      await file.#begin();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    await this.#connection.run(`set timezone = 'UTC'`);
    await this.#connection.run(`create temp table part (${this.#arrivals.map(({ sql }, index) => `c${index} ${sql}`).join(', ')})`);
  }

  /** Adds rows; each has the values of the columns, in their order. */
  async add(rows: readonly (readonly unknown[])[]): Promise<void> {
    this.#waiting.push(...rows);
    for (const row of rows) for (const value of row) if (typeof value === 'string') this.#characters += value.length;
    if (this.#waiting.length >= CHUNK) await this.#append();
    if (this.#held >= PART_ROWS || this.#characters >= PART_CHARACTERS) await this.#write();
  }

  async #append(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    if (rows.length === 0) return;
    const types = this.#arrivals.map(({ as }) => as);
    const appender = await this.#connection.createAppender('part', null, 'temp');
    for (let from = 0; from < rows.length; from += CHUNK) {
      const some = rows.slice(from, from + CHUNK);
      const chunk = DuckDBDataChunk.create(types, some.length);
      types.forEach((type, index) => {
        const column = some.map((row) => given(type, row[index]));
        chunk.setColumnValues(index, column);
      });
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    this.#held += rows.length;
  }

  /** Writes the rows in memory as a part, so that memory holds no more than one part. */
  async #write(): Promise<void> {
    await this.#append();
    const path = join(this.#folder, `${this.#parts.length}.parquet`);
    const made = this.#arrivals.map(({ made: of }, index) => `${of(`c${index}`)} as ${duckdb.quote(this.#columns[index]?.name ?? '')}`);
    await this.#connection.run(`copy (select ${made.join(', ')} from part) to ${quoteText(path)} (${WRITTEN})`);
    await this.#connection.run('truncate part');
    this.#parts.push(path);
    this.#held = 0;
    this.#characters = 0;
  }

  /** Finishes the file and answers its path. The file exists until `close`. */
  async finish(): Promise<string> {
    if (this.#parts.length === 0 || this.#held + this.#waiting.length > 0) await this.#write();
    const [first = '', ...more] = this.#parts;
    if (more.length === 0) return first;
    const whole = join(this.#folder, 'whole.parquet');
    await this.#connection.run(
      `copy (select * from read_parquet([${this.#parts.map(quoteText).join(', ')}])) to ${quoteText(whole)} (${WRITTEN}, preserve_order true)`,
    );
    return whole;
  }

  async close(): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
