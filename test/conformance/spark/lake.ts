/** The Databricks side of a lake on Spark: Delta tables over DuckDB's files, and a warehouse that asks them. */
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { parquetMetadata } from 'hyparquet';
import { listPhysicalColumns } from '../../../src/lakehouse/terms/catalog.ts';
import type { Column, TableKind } from '../../../src/lakehouse/terms/catalog.ts';
import { printEntry } from '../../../src/lakehouse/tables/delta/entry.ts';
import { printEntryKey } from '../../../src/lakehouse/tables/delta/places.ts';
import { makeFirstState, makeNextState } from '../../../src/lakehouse/tables/delta/schema.ts';
import type { LogState } from '../../../src/lakehouse/tables/delta/schema.ts';
import type { Dialect } from '../../../src/lakehouse/terms/dialect.ts';
import { makeDatabricks } from '../../../src/lakehouse/compile/dialects/databricks.ts';
import type { TableRows } from '../../../src/lakehouse/terms/plan.ts';
import type { NamedType, Staged, Statement, StreamFormat, TypedFormat, Warehouse } from '../../../src/lakehouse/terms/warehouse.ts';
import { writeArrow, writeParquet } from '../../../src/lakehouse/engines/databricks/typed.ts';
import type { Spark, SparkCell, SparkResult } from '../../support/spark.ts';

const fileOf = (path: string) => {
  const bytes = readFileSync(path);
  const { buffer, byteOffset, byteLength } = bytes;
  const rows = parquetMetadata(buffer.slice(byteOffset, byteOffset + byteLength)).num_rows;
  return { path, byteCount: bytes.length, rowCount: Number(rows), ranges: [], modifiedAt: 0 };
};

/** Lays files as the versions of a Delta table, one file more with each from version 1 on, logged by the product; answers the table at any of them. */
export function layLive(
  root: string,
  { folder, kind, files, columns }: { folder: string; kind: TableKind; files: readonly string[]; columns: readonly Column[] },
): (version?: number) => TableRows {
  mkdirSync(join(root, folder, '_delta_log'), { recursive: true });
  const table = { id: randomUUID(), name: folder, createdAt: 0 };
  const physical = listPhysicalColumns(columns).map(({ name, type }) => ({ name, type }));
  let state: LogState | null = null;
  for (const [version, file] of [null, ...files].entries()) {
    const after = makeNextState(state ?? makeFirstState(kind), [physical], { files: true, retyped: new Set() });
    const added = file === null ? [] : [fileOf(file)];
    if (file !== null) copyFileSync(file, join(root, folder, basename(file)));
    const entry = printEntry({ table, before: state, after, cause: 'append', at: 0, added, retired: [], changesRows: true });
    writeFileSync(join(root, printEntryKey(folder, version)), entry);
    state = after;
  }
  return (version = files.length) => ({ files: files.slice(0, version), live: { tableId: table.id, folder, version } });
}

const csvCell = (text: SparkCell): string => {
  if (typeof text !== 'string') return '';
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Statements asked in one turn of the event loop go to Spark together. */
export class SparkWarehouse implements Warehouse {
  readonly name = 'databricks';
  readonly dialect: Dialect;
  readonly #spark: Spark;
  readonly #patch: (statement: Statement) => Statement;
  #asked: { statement: Statement; settle: (result: SparkResult | Error) => void }[] = [];

  /** `root`: the folder of the lake. */
  constructor(spark: Spark, root: string, patch: (statement: Statement) => Statement = (statement) => statement) {
    this.dialect = makeDatabricks(root);
    this.#spark = spark;
    this.#patch = patch;
  }

  get running() {
    return this.#asked.length;
  }

  async rows(statement: Statement): Promise<Record<string, SparkCell>[]> {
    const result = await new Promise<SparkResult>((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => void this.#send());
      this.#asked.push({
        statement: this.#patch(statement),
        settle: (found) => (found instanceof Error ? reject(found) : resolve(found)),
      });
    });
    if ('error' in result) throw new Error(`${result.error}\n\n${statement.sql}`);
    return result.rows.map((row) => Object.fromEntries(result.columns.map((name, index) => [name, row[index] ?? null])));
  }

  async typed(statement: Statement, format: TypedFormat, columns: readonly NamedType[]): Promise<Readable> {
    const pages = Readable.from([await this.rows(statement)]);
    const told = undefined;
    return Readable.from(
      format === 'arrow'
        ? writeArrow(pages, columns, told)
        : writeParquet(pages, columns, { temporaryFolder: this.#spark.folder, onRows: told }),
      { objectMode: false },
    );
  }

  async stream(statement: Statement, format: StreamFormat): Promise<Readable> {
    const rows = await this.rows(statement);
    return Readable.from(
      rows.map((row) =>
        Buffer.from(
          `${Object.values(row)
            .map(format === 'csv' ? csvCell : String)
            .join(',')}\n`,
        ),
      ),
    );
  }

  stage(): Promise<Staged> {
    throw new Error('Reads only.');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #send(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      const results = await this.#spark.run(asked.map(({ statement }) => statement));
      for (const [index, { settle }] of asked.entries()) settle(results[index] ?? new Error('No answer.'));
    } catch (error) {
      for (const { settle } of asked) settle(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
