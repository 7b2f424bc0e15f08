/** A lake behind the driver: tables that DuckDB wrote, statements over TLS and Thrift. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFixedColumns, listPhysicalColumns } from '../../src/lakehouse/terms/catalog.ts';
import type { Column, TableKind } from '../../src/lakehouse/terms/catalog.ts';
import type { TableRows } from '../../src/lakehouse/terms/plan.ts';
import { printPhysicalType } from '../../src/lakehouse/terms/physical-types.ts';
import { DatabricksWarehouse } from '../../src/lakehouse/engines/databricks/warehouse.ts';
import type { DatabricksOptions } from '../../src/lakehouse/engines/databricks/client.ts';
import { DuckDbEngine } from '../support/databricks-engine.ts';
import type { FindVersion } from '../support/databricks-engine.ts';
import { ThriftServer } from '../support/thrift-server.ts';

export const LAKE_URL = 's3://field-lake';

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The rows of files, with every column that a Delta table of them has. */
export const selectFiles = (files: readonly string[], columns: readonly { name: string; type: string }[]): string => {
  const empty = columns.map(({ name, type }) => `null::${type} as ${quote(name)}`).join(', ');
  if (files.length === 0) return `select ${empty} where false`;
  const list = files.map((file) => `'${file}'`).join(', ');
  return `select ${empty} where false union all by name select * from read_parquet([${list}], union_by_name = true)`;
};

export class DatabricksLake {
  readonly engine: DuckDbEngine;
  readonly server: ThriftServer;
  readonly warehouse: DatabricksWarehouse;
  readonly #folder: string;
  readonly #tables: Map<string, string>;
  #files = 0;

  private constructor(opened: { engine: DuckDbEngine; server: ThriftServer; warehouse: DatabricksWarehouse }, tables: Map<string, string>) {
    ({ engine: this.engine, server: this.server, warehouse: this.warehouse } = opened);
    this.#tables = tables;
    this.#folder = mkdtempSync(join(tmpdir(), 'databricks-lake-'));
  }

  /** `find`: where the tables are somebody else's. */
  static async open(options: Partial<DatabricksOptions> = {}, find?: FindVersion): Promise<DatabricksLake> {
    const tables = new Map<string, string>();
    const own: FindVersion = (url) => {
      const found = tables.get(url);
      if (found === undefined) throw new Error(`[DELTA_TABLE_NOT_FOUND] ${url}`);
      return found;
    };
    const engine = await DuckDbEngine.open(find ?? own);
    const server = await ThriftServer.start(engine);
    const warehouse = await DatabricksWarehouse.open({ ...addressOf(server), ...options });
    return new DatabricksLake({ engine, server, warehouse }, tables);
  }

  /** Writes the rows of a SELECT as one file. */
  async write(select: string): Promise<string> {
    const path = join(this.#folder, `${(this.#files += 1)}.parquet`);
    await this.engine.run(`copy (${select}) to '${path}' (format parquet)`);
    return path;
  }

  /** A table of such files, at its only version. */
  rows(files: readonly string[], kind: TableKind, expanded: readonly Column[] = []): TableRows {
    const folder = `tables/${this.#tables.size + 1}`;
    const columns = listPhysicalColumns([...listFixedColumns(kind), ...expanded]).map(({ name, type }) => ({
      name,
      type: printPhysicalType(type),
    }));
    this.#tables.set(`${LAKE_URL}/${folder}`, selectFiles(files, columns));
    return { files, live: { tableId: folder, folder, version: 1 } };
  }

  async close(): Promise<void> {
    await this.warehouse.close();
    await this.server.close();
    this.engine.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Where a server is and how it is trusted. */
export const addressOf = (server: ThriftServer): DatabricksOptions => ({
  host: 'localhost',
  port: server.port,
  path: '/sql/1.0/warehouses/test',
  catalog: 'field',
  lakeUrl: LAKE_URL,
  credentials: { token: 'dapi-secret' },
  authority: server.authority,
  startPauseMs: 20,
});
