/** Writes a whole database into files, by COPY in one snapshot, and reads it back. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { listMigrations } from './baseline.ts';
import { useConnection } from './connection.ts';
import { copyRowsIn, copyRowsOut } from './copy.ts';

export interface SnapshotTable {
  schema: string;
  name: string;
  columns: string[];
  rows: number;
}

export interface Snapshot {
  /** Names of the migrations that made its tables. */
  migrations: string[];
  tables: SnapshotTable[];
  sequences: { schema: string; name: string; value: string; isCalled: boolean }[];
}

const full = ({ schema, name }: { schema: string; name: string }) => `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
const fileOf = ({ schema, name }: { schema: string; name: string }) => `${schema}.${name}.copy`;

async function listTables(client: pg.Client): Promise<Omit<SnapshotTable, 'rows'>[]> {
  const { rows } = await client.query<{ schema: string; name: string; columns: string[] }>(`
    select n.nspname as schema, c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p') and not c.relispartition group by n.nspname, c.relname order by 1, 2`);
  return rows;
}

/**
 * Writes every table of the database except `skip` to a file of its own, all as of one moment. `meanwhile` can read columns of the tables as of that moment,
 * as text. The service may run.
 */
export function writeSnapshot(
  url: string,
  folder: string,
  skip: ReadonlySet<string>,
  meanwhile: (read: (table: string, ...columns: string[]) => Promise<(string | null)[][]>) => Promise<void>,
): Promise<Snapshot> {
  return useConnection(url, async (client) => {
    await mkdir(folder, { recursive: true });
    await client.query('begin isolation level repeatable read read only');
    const tables: SnapshotTable[] = [];
    for (const table of (await listTables(client)).filter(({ name }) => !skip.has(name))) {
      const target = createWriteStream(join(folder, fileOf(table)), { mode: 0o600, flush: true });
      // a partitioned table can only be copied by a query
      await copyRowsOut(client, `copy (select ${table.columns.map(pg.escapeIdentifier).join(', ')} from ${full(table)}) to stdout`, target);
      target.end();
      await finished(target);
      const { rows } = await client.query<{ count: string }>(`select count(*) from ${full(table)}`);
      tables.push({ ...table, rows: Number(rows[0]?.count) });
    }
    const sequences: Snapshot['sequences'] = [];
    const named = await client.query<{ schema: string; name: string }>(
      `select schemaname as schema, sequencename as name from pg_sequences where schemaname in ('public', 'pgboss') order by 1, 2`,
    );
    for (const sequence of named.rows) {
      const { rows } = await client.query<{ value: string; isCalled: boolean }>(
        `select last_value::text as value, is_called as "isCalled" from ${full(sequence)}`,
      );
      if (rows[0]) sequences.push({ ...sequence, ...rows[0] });
    }
    const migrations = await listMigrations(client);
    await meanwhile(async (name, ...columns) => {
      const texts = columns.map((column) => `${pg.escapeIdentifier(column)}::text`);
      const text = `select ${texts.join(', ')} from ${full({ schema: 'public', name })} order by 1`;
      return (await client.query<(string | null)[]>({ text, rowMode: 'array' })).rows;
    });
    await client.query('commit');
    return { migrations, tables, sequences };
  });
}

/** Whether a database is as the migrations leave it, so that nobody has an account. */
export const isUnused = (url: string): Promise<boolean> =>
  useConnection(url, async (client) => {
    const { rows } = await client.query<{ used: boolean }>('select exists (select from public.users) as used');
    return rows[0]?.used !== true;
  });

export const listMigrationsOf = (url: string): Promise<string[]> => useConnection(url, listMigrations);

/** Whether this role may put a snapshot into the database: no trigger and no foreign key may stop it meanwhile. */
export const canReadSnapshot = (url: string): Promise<boolean> =>
  useConnection(url, async (client) => {
    const { rows } = await client.query<{ may: boolean }>(`select has_parameter_privilege('session_replication_role', 'set') as may`);
    return rows[0]?.may === true;
  });

/** Puts a snapshot into a database of the same migrations, in one transaction. It replaces everything that is there. */
export function readSnapshot(url: string, folder: string, { tables, sequences }: Snapshot): Promise<void> {
  return useConnection(url, async (client) => {
    await client.query('begin');
    // triggers and foreign keys have already done their work on these rows
    await client.query('set local session_replication_role = replica');
    await client.query(`truncate ${tables.map(full).join(', ')}`);
    for (const table of tables) {
      await copyRowsIn(
        client,
        `copy ${full(table)} (${table.columns.map(pg.escapeIdentifier).join(', ')}) from stdin`,
        createReadStream(join(folder, fileOf(table))),
      );
      const { rows } = await client.query<{ count: string }>(`select count(*) from ${full(table)}`);
      if (Number(rows[0]?.count) !== table.rows)
        throw new Error(`${table.name} has ${String(rows[0]?.count)} rows after the restore, and had ${table.rows} in the backup`);
    }
    for (const { schema, name, value, isCalled } of sequences)
      await client.query('select setval($1::regclass, $2, $3)', [full({ schema, name }), value, isCalled]);
    await client.query('commit');
    await client.query('analyze');
  });
}
