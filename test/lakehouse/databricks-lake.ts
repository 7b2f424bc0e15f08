/** A lake behind the driver: the tables of `sql/databricks`, rows put in by DuckDB, statements over TLS and Thrift. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixedColumns, physicalColumns } from '../../src/lakehouse/catalog.ts';
import type { TableKind } from '../../src/lakehouse/catalog.ts';
import { physicalType } from '../../src/lakehouse/staging.ts';
import { parseType } from '../../src/lakehouse/types.ts';
import { DatabricksWarehouse } from '../../src/lakehouse/warehouses/databricks.ts';
import type { DatabricksOptions } from '../../src/lakehouse/warehouses/databricks-client.ts';
import { DuckDbEngine } from '../support/databricks-engine.ts';
import { ThriftServer } from '../support/thrift-server.ts';

export interface DeltaTable {
  kind: TableKind;
  columns: readonly { name: string; type: string; notNull: boolean }[];
}

/** The tables that the script makes. */
export const deltaTables = (): DeltaTable[] => {
  const script = readFileSync(join(import.meta.dirname, '../../sql/databricks/2_tables.sql'), 'utf8');
  return [...script.matchAll(/CREATE TABLE IF NOT EXISTS gold\.(\w+) \(\n([\s\S]*?)\n\) USING DELTA/g)].map(([, kind, body = '']) => ({
    kind: kind as TableKind,
    columns: body.split(/,\n/).map((line) => {
      const [, name = '', type = '', not] = /^ {2}(\w+) (.+?)( NOT NULL)?$/.exec(line) ?? [];
      return { name, type, notNull: not !== undefined };
    }),
  }));
};

const duckType = (text: string) => {
  const type = parseType(text);
  return type.kind === 'variant' ? 'variant' : physicalType(type);
};

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
const stored = (name: string) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `~${Buffer.from(name, 'utf8').toString('hex')}`);

export const UPLOAD_TABLE = '01990000-0000-7000-8000-0000000000aa';

/** Kinds by a column that only they have. */
const KINDS: readonly (readonly [string, TableKind])[] = [
  ['user_id', 'identity'],
  ['serial_number', 'registry'],
  ['sequence', 'annotation'],
  ['uploaded_at', 'upload'],
  ['data', 'raw_data'],
];

export class DatabricksLake {
  readonly engine: DuckDbEngine;
  readonly server: ThriftServer;
  readonly warehouse: DatabricksWarehouse;

  private constructor(engine: DuckDbEngine, server: ThriftServer, warehouse: DatabricksWarehouse) {
    this.engine = engine;
    this.server = server;
    this.warehouse = warehouse;
  }

  static async open(options: Partial<DatabricksOptions> = {}): Promise<DatabricksLake> {
    const engine = await DuckDbEngine.open();
    for (const { kind, columns } of deltaTables())
      await engine.run(`create table gold.${kind} (${columns.map(({ name, type }) => `${quote(name)} ${duckType(type)}`).join(', ')})`);
    const server = await ThriftServer.start(engine);
    const warehouse = await DatabricksWarehouse.open({ ...addressOf(server), ...options });
    return new DatabricksLake(engine, server, warehouse);
  }

  /** Puts the rows of a SELECT in the table that has such columns; what is not among them goes into the VARIANT. The answer names the rows. */
  async write(select: string, uploadTable = UPLOAD_TABLE): Promise<string> {
    const names = await this.engine.columns(select);
    const [, kind] = KINDS.find(([column]) => names.includes(column)) ?? [];
    if (!kind) throw new Error(`No table has ${names.join(', ')}.`);
    const fixed = physicalColumns(fixedColumns(kind)).filter(({ name }) => names.includes(name));
    const reads = fixed.map(
      ({ name, type }) => `${type.kind === 'variant' ? `${quote(name)}::json::variant` : quote(name)} as ${quote(name)}`,
    );
    if (kind === 'upload') {
      const expanded = names.filter((name) => !fixed.some((column) => column.name === name));
      const members = expanded.map((name) => `${literal(stored(name))}: ${name === 'json' ? `${quote(name)}::json` : quote(name)}`);
      reads.push(`${literal(uploadTable)} as upload_table_id`, `{${members.join(', ')}}::variant as uploaded_data`);
    }
    await this.engine.run(`insert into gold.${kind} by name select ${reads.join(', ')} from (${select})`);
    return uploadTable;
  }

  async close(): Promise<void> {
    await this.warehouse.close();
    await this.server.close();
    this.engine.close();
  }
}

/** Where a server is and how it is trusted. */
export const addressOf = (server: ThriftServer): DatabricksOptions => ({
  host: 'localhost',
  port: server.port,
  path: '/sql/1.0/warehouses/test',
  catalog: 'field',
  credentials: { token: 'dapi-secret' },
  authority: server.authority,
  startPauseMs: 20,
});
