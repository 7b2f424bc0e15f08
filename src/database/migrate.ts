import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

export const APPLICATION_ROLE = 'fieldlake_app';
const MIGRATION_LOCK = 7_310_586_412_002;

interface MigrateOptions {
  url: string;
  /** Folder that holds `migrations/`, `views/` and `roles.sql`. */
  folder: string;
}

/**
 * Brings a database up to date: migrations in order, then the views and the application role, which are written anew each time.
 * Any number of processes may call it at once; a session lock lets one through at a time.
 */
export async function migrate({ url, folder }: MigrateOptions): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query('set client_min_messages = warning');
    await runner({
      dbClient: client,
      dir: join(folder, 'migrations'),
      direction: 'up',
      migrationsTable: 'schema_migrations',
      checkOrder: true,
      noLock: true,
      log: () => undefined,
    });
    const views = (await readdir(join(folder, 'views'))).filter((name) => name.endsWith('.sql')).sort();
    await client.query('begin');
    for (const view of views) await client.query(await readFile(join(folder, 'views', view), 'utf8'));
    await client.query(await readFile(join(folder, 'roles.sql'), 'utf8'));
    await client.query('commit');
  } finally {
    await client.end();
  }
}
