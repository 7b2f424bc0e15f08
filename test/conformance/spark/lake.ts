/** The Databricks side of a lake on Spark: the tables of `gold`, rows of DuckDB's files in them, and a warehouse that asks them. */
import { Readable } from 'node:stream';
import { fixedColumns, physicalColumns } from '../../../src/lakehouse/catalog.ts';
import type { Column, TableKind } from '../../../src/lakehouse/catalog.ts';
import { databricks } from '../../../src/lakehouse/dialects/databricks.ts';
import { typeText } from '../../../src/lakehouse/types.ts';
import type { NamedType, Staged, Statement, StreamFormat, TypedFormat, Warehouse } from '../../../src/lakehouse/warehouse.ts';
import { arrowOf, parquetOf } from '../../../src/lakehouse/warehouses/databricks-typed.ts';
import type { Spark, SparkCell, SparkResult } from '../../support/spark.ts';

const KINDS: readonly TableKind[] = [
  'raw_data',
  'device',
  'macro',
  'upload',
  'identity',
  'registry',
  'annotation',
  'metadata_record',
  'quarantine',
];

/** What a kind's one table has beside its kind's columns: which of the lab's tables a row is of, and what only that table has. */
const SHARED: Partial<Record<TableKind, string>> = {
  raw_data: ', questions_data variant, custom_metadata variant',
  macro: ', macro_output variant',
  upload: ', upload_table_id string, uploaded_data variant',
};

const quote = (name: string) => databricks.quote(name);

/** Makes every table of `gold`, or those of these kinds, empty. */
export const createTables = async (spark: Spark, kinds: readonly TableKind[] = KINDS): Promise<void> => {
  await spark.rows('create database gold');
  for (const kind of kinds) {
    const columns = physicalColumns(fixedColumns(kind)).map(({ name, type }) => `${quote(name)} ${typeText(type)}`);
    await spark.rows(`create table gold.${quote(kind)} (${columns.join(', ')}${SHARED[kind] ?? ''}) using parquet`);
  }
};

/** The name under which the VARIANT column holds a column: a path cannot escape, so that other names than plain words are stored in hexadecimal. */
const stored = (name: string) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `~${Buffer.from(name, 'utf8').toString('hex')}`);

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Fills `gold.upload` with the rows of Parquet files: what is expanded goes into the VARIANT column with its own types. */
export const fillUploads = async (
  spark: Spark,
  { files, tableId, expanded }: { files: readonly string[]; tableId: string; expanded: readonly Column[] },
): Promise<void> => {
  for (const file of files) {
    const from = `parquet.${quote(file)}`;
    const [has] = await spark.run([{ sql: `select * from ${from}`, values: [] }], 'explain');
    const there = new Set(has && 'rows' in has ? has.rows.map(([name]) => name) : []);
    const members = expanded
      .filter(({ name }) => there.has(name))
      .map(({ name, type }) => `${literal(stored(name))}, ${type.kind === 'variant' ? `parse_json(${quote(name)})` : quote(name)}`);
    const base = physicalColumns(fixedColumns('upload')).map(({ name }) => quote(name));
    await spark.rows(
      `insert into gold.upload (${base.join(', ')}, upload_table_id, uploaded_data)
       select ${base.join(', ')}, ${literal(tableId)}, to_variant_object(named_struct(${members.join(', ')})) from ${from}`,
    );
  }
  await spark.rows('cache table gold.upload');
};

/** Fills the table of one of the kinds that have the same columns on both sides. */
export const fill = async (spark: Spark, kind: TableKind, files: readonly string[]): Promise<void> => {
  const columns = physicalColumns(fixedColumns(kind)).map(({ name }) => quote(name));
  for (const file of files)
    await spark.rows(`insert into gold.${quote(kind)} (${columns.join(', ')}) select ${columns.join(', ')} from parquet.${quote(file)}`);
  await spark.rows(`cache table gold.${quote(kind)}`);
};

const csvCell = (text: SparkCell): string => {
  if (typeof text !== 'string') return '';
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Statements asked in one turn of the event loop go to Spark together. */
export class SparkWarehouse implements Warehouse {
  readonly name = 'databricks';
  readonly dialect = databricks;
  readonly #spark: Spark;
  readonly #patch: (statement: Statement) => Statement;
  #asked: { statement: Statement; settle: (result: SparkResult | Error) => void }[] = [];

  constructor(spark: Spark, patch: (statement: Statement) => Statement = (statement) => statement) {
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
      format === 'arrow' ? arrowOf(pages, columns, told) : parquetOf(pages, columns, { temporaryFolder: this.#spark.folder, onRows: told }),
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
