import { hash } from 'node:crypto';
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

const TRIES = 5;

/**
 * Writes the views and the application role's rights, unless they stand as these files and migrations have them: to write a view is to wait for
 * everybody who reads it, and a service that starts beside another must not stop its requests. A deadlock with one of them is tried again.
 */
async function writeViews(client: pg.Client, folder: string): Promise<void> {
  const list = async (kind: string) => (await readdir(join(folder, kind))).filter((name) => name.endsWith('.sql')).sort();
  const paths = [...(await list('views')).map((name) => join(folder, 'views', name)), join(folder, 'roles.sql')];
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  const digest = hash('sha256', JSON.stringify([await list('migrations'), texts]));
  const { rows } = await client.query<{ written: string | null }>(
    `select obj_description(to_regclass('public.effective_access'), 'pg_class') as written from pg_roles where rolname = $1`,
    [APPLICATION_ROLE],
  );
  if (rows[0]?.written === digest) return;
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query('begin');
      for (const text of texts) await client.query(text);
      await client.query(`comment on view effective_access is ${client.escapeLiteral(digest)}`);
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      if (tries === TRIES || (error as { code?: unknown }).code !== '40P01') throw error;
    }
  }
}

/**
 * Brings a database up to date: migrations in order, then the views and the application role where they have changed.
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
    await writeViews(client, folder);
  } finally {
    await client.end();
  }
}
