import { hash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runner } from 'node-pg-migrate';
import type pg from 'pg';
import { StartError } from '../errors.ts';
import { listMigrations, MIGRATIONS_TABLE, requireBaseline } from './baseline.ts';
import { useConnection } from './connection.ts';
import { retry } from './retry.ts';
import { changeAlone, hasSchema, holdSchema } from './schema-use.ts';

export const APPLICATION_ROLE = 'fieldlake_app';
const OLDEST_POSTGRES = 18;
const MIGRATION_LOCK = 7_310_586_412_002;

interface MigrateOptions {
  url: string;
  /** Folder that holds `migrations/`, `views/` and `roles.sql`. */
  folder: string;
  /** Called when another version has changed the tables, which a process learns when it had lost Postgres. */
  onOvertaken?: (error: StartError) => void;
  /** Called when Postgres, which had been lost, is found again. */
  onBack?: () => void;
}

const TRIES = 5;
const isDeadlock = (error: unknown) => (error as { code?: unknown }).code === '40P01';

/** Names of the SQL files in a folder, in order. */
const listFiles = async (folder: string) => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();

/** The texts of the views and of the application role's rights, in order. */
async function readViews(folder: string): Promise<string[]> {
  const views = (await listFiles(join(folder, 'views'))).map((name) => join(folder, 'views', name));
  return Promise.all([...views, join(folder, 'roles.sql')].map((path) => readFile(path, 'utf8')));
}

/** Writes the views and the application role's rights. A deadlock with somebody who reads a view is tried again. */
async function writeViews(client: pg.Client, texts: readonly string[], digest: string): Promise<void> {
  await retry(TRIES, isDeadlock, async () => {
    try {
      await client.query('begin');
      for (const text of texts) await client.query(text);
      await client.query(`comment on view effective_access is ${client.escapeLiteral(digest)}`);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  });
}

/** Checks that this is a Postgres that we can use. Errors: StartError. */
async function requireUsable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; pid: number; isReadOnly: boolean }>(
    `select current_setting('server_version') as version, pg_backend_pid() as pid, current_setting('transaction_read_only')::boolean as "isReadOnly"`,
  );
  const [{ version, pid, isReadOnly }] = rows as [(typeof rows)[number]];
  // a pooler says a number of its own to whoever connects
  const isPooled = (client as unknown as { processID: number }).processID !== pid;
  const problem = isPooled
    ? 'a pooler of connections, and a session must stay on one connection here, with its locks and its role; give the address of Postgres itself'
    : Number.parseInt(version, 10) < OLDEST_POSTGRES
      ? `a Postgres ${version}, and fieldlake needs Postgres ${OLDEST_POSTGRES}`
      : isReadOnly
        ? 'a Postgres that takes no writes: a standby, or one with default_transaction_read_only'
        : undefined;
  if (problem !== undefined) throw new StartError(`DATABASE_URL leads to ${problem}.`);
}

/** Checks that this role may make tables and roles in a database that has none of ours. Errors: StartError. */
async function requireRights(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select from pg_roles where rolname = current_user and (rolcreaterole or rolsuper or exists (select from pg_roles where rolname = $1))
       and has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create')`,
    [APPLICATION_ROLE],
  );
  if (rows.length === 0)
    throw new StartError(
      'The role of DATABASE_URL must own its database and may create roles: a superuser lets it by "alter database DATABASE owner to ROLE" and "alter role ROLE createrole".',
    );
}

/** Checks that a database that has none of ours holds the letters of all languages, and knows large from small ones. Errors: StartError. */
async function requireLetters(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select from pg_database where datname = current_database() and pg_encoding_to_char(encoding) = 'UTF8' and lower('Ä') = 'ä'`,
  );
  if (rows.length === 0)
    throw new StartError(
      "The database of DATABASE_URL lacks letters of many languages: make it by \"create database DATABASE owner ROLE template template0 encoding 'UTF8' locale_provider builtin builtin_locale 'C.UTF-8'\".",
    );
}

/** Checks that this role may act as the application role, which all databases of a server share. Errors: StartError. */
async function requireApplicationRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select from pg_roles where rolname = $1 and not pg_has_role(current_user, oid, 'set') and not pg_has_role(current_user, oid, 'member with admin option')`,
    [APPLICATION_ROLE],
  );
  if (rows.length > 0)
    throw new StartError(
      `The role of DATABASE_URL may not act as ${APPLICATION_ROLE}, which another service on that server made: a superuser lets it by "grant ${APPLICATION_ROLE} to ROLE", once.`,
    );
}

/**
 * Brings a database up to date where it is not: migrations in order, then the views and the application role. Any number of processes may call it at once; a
 * session lock lets one through at a time. The tables stay as they are until the returned function is called, or `onOvertaken`. Errors: StartError.
 */
export function migrate({
  url,
  folder,
  onOvertaken = () => undefined,
  onBack = () => undefined,
}: MigrateOptions): Promise<() => Promise<void>> {
  return useConnection(url, async (client) => {
    await requireUsable(client);
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query('set client_min_messages = warning');
    const migrations = (await listFiles(join(folder, 'migrations'))).map((name) => basename(name, '.sql'));
    await requireBaseline(client, migrations);
    if ((await listMigrations(client)).length === 0) {
      await requireRights(client);
      await requireLetters(client);
    }
    await requireApplicationRole(client);
    const texts = await readViews(folder);
    const digest = hash('sha256', JSON.stringify([migrations, texts]));
    const isCurrent = (asked: pg.Client) => hasSchema(asked, digest, APPLICATION_ROLE);
    if (!(await isCurrent(client)))
      await changeAlone(client, async () => {
        await runner({
          dbClient: client,
          dir: join(folder, 'migrations'),
          direction: 'up',
          migrationsTable: MIGRATIONS_TABLE,
          checkOrder: true,
          noLock: true,
          log: () => undefined,
        });
        await writeViews(client, texts, digest);
      });
    return await holdSchema({ url, isCurrent, onOvertaken, onBack });
  });
}
