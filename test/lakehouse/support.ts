/** A lake of its own for a test: Parquet files written by DuckDB itself, columns named by their types. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  INT,
  STRING,
  TIMESTAMP,
  TIMESTAMP_NTZ,
  VARIANT,
  makeDecimal,
  listFixedColumns,
} from '../../src/lakehouse/terms/catalog.ts';
import type { Column, ColumnType, TableKind } from '../../src/lakehouse/terms/catalog.ts';
import { makeExperimentScope } from '../../src/lakehouse/terms/scope.ts';
import type { TableRows } from '../../src/lakehouse/terms/plan.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { framePage } from '../../src/lakehouse/read/page-frame.ts';
import { readPage, readStream } from '../../src/lakehouse/read/read.ts';
import type { DownloadOptions } from '../../src/lakehouse/read/read.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import type { RunOptions, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { DuckDbWarehouse } from '../../src/lakehouse/engines/duckdb/warehouse.ts';
import type { DuckDbOptions } from '../../src/lakehouse/engines/duckdb/warehouse.ts';

export const EXPERIMENT = '01990000-0000-7000-8000-000000000001';
export const OTHER_EXPERIMENT = '01990000-0000-7000-8000-000000000002';

export const uploaded = (name: string, type: ColumnType): Column => ({ name, type, nullable: true, origin: 'uploaded' });

/** One column of each type that an upload can have. */
export const TYPED_COLUMNS: readonly Column[] = [
  uploaded('bool', BOOLEAN),
  uploaded('int', INT),
  uploaded('big', BIGINT),
  uploaded('dec', makeDecimal(12, 3)),
  uploaded('dbl', DOUBLE),
  uploaded('txt', STRING),
  uploaded('day', DATE),
  uploaded('at', TIMESTAMP),
  uploaded('clock', TIMESTAMP_NTZ),
  uploaded('json', VARIANT),
];

export class Lake {
  readonly folder: string;
  readonly temporary: string;
  readonly warehouse: DuckDbWarehouse;
  readonly #root: string;
  #files = 0;

  private constructor(root: string, warehouse: DuckDbWarehouse) {
    this.#root = root;
    this.folder = join(root, 'lake');
    this.temporary = join(root, 'tmp');
    this.warehouse = warehouse;
  }

  static async open(options: Partial<DuckDbOptions> = {}): Promise<Lake> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'lake-')));
    mkdirSync(join(root, 'lake'));
    const warehouse = await DuckDbWarehouse.open({ lakeFolder: join(root, 'lake'), temporaryFolder: join(root, 'tmp'), ...options });
    return new Lake(root, warehouse);
  }

  /** Writes the rows of a SELECT as one file of the lake, with an engine that knows nothing of ours. */
  async write(select: string): Promise<string> {
    const path = join(this.folder, `${(this.#files += 1)}.parquet`);
    const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
    const connection = await instance.connect();
    await connection.run(`set timezone = 'UTC'`);
    await connection.run(`copy (${select}) to '${path}' (format parquet, row_group_size 20000)`);
    connection.closeSync();
    instance.closeSync();
    return path;
  }

  /** A table of such files. */
  rows(files: readonly string[], _kind?: TableKind, _expanded?: readonly Column[]): TableRows {
    return { files };
  }

  async close(): Promise<void> {
    await this.warehouse.close();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export const source = (
  files: readonly string[],
  more: Partial<TableSource> & { anonymised?: boolean; expanded?: readonly Column[] } = {},
): TableSource => {
  const { anonymised = false, expanded = TYPED_COLUMNS, ...rest } = more;
  return {
    scope: makeExperimentScope({ experimentId: EXPERIMENT, anonymised }),
    table: { kind: 'upload', identifier: '01990000-0000-7000-8000-0000000000aa' },
    columns: [...listFixedColumns('upload'), ...expanded],
    files,
    version: '1',
    ...rest,
  };
};

export interface PageBody {
  name: string;
  data: {
    columns: { name: string; type_name: string; type_text: string }[];
    rows: Record<string, unknown>[];
    totalRows: number;
    truncated: boolean;
  };
  page: number;
  pageSize: number;
  totalPages: number;
  totalRows: number;
}

/** Reads a page to its end and parses it as a client would. */
export const page = async (warehouse: Warehouse, from: TableSource, request: ReadRequest, options: RunOptions = {}): Promise<PageBody> => {
  const body = framePage(await readPage(warehouse, from, request, options), { name: 't', catalog_name: 'c', schema_name: 's' });
  const [only] = JSON.parse(await text(body)) as [PageBody];
  return only;
};

export const download = async (warehouse: Warehouse, from: TableSource, request: ReadRequest, options: DownloadOptions): Promise<string> =>
  text((await readStream(warehouse, from, request, options)).body);
