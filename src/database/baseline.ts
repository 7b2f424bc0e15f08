/** Decides whether a database may go on with our migrations. One that comes from before they were squashed has others, and may too. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import { StartError } from '../errors.ts';

export const MIGRATIONS_TABLE = 'schema_migrations';

/** The migrations that were squashed into those up to `squashed`: a database that had them all has the same schema, but for the table of `more`. */
const BEFORE = {
  last: '0142_ended_certificates',
  /** One that some databases had besides; no version in the history has it. */
  more: '0143_authority',
  /** SHA-256 of the names up to `last` in order, one a line. */
  digest: '9354089a05a6999cab168e41a11fc21e31ce1bfd2ecb06aec1d2af926076fd8f',
  squashed: '013_webhooks_and_imports',
};

/** Names of the migrations that a database has, in the order in which they ran; none when it is empty. */
export async function listMigrations(client: pg.Client): Promise<string[]> {
  const { rows: found } = await client.query<{ there: boolean }>(`select to_regclass('public.${MIGRATIONS_TABLE}') is not null as there`);
  if (found[0]?.there !== true) return [];
  const { rows } = await client.query<{ name: string }>(`select name from public.${MIGRATIONS_TABLE} order by run_on, id`);
  return rows.map(({ name }) => name);
}

/** Puts the squashed migrations in place of those that a database had, in one transaction. */
async function stampBaseline(client: pg.Client, squashed: readonly string[]): Promise<void> {
  await client.query('begin');
  await client.query(
    'create table if not exists authority (is_only boolean primary key default true check (is_only), sealed text not null, made_at timestamptz not null default now())',
  );
  await client.query(`delete from public.${MIGRATIONS_TABLE}`);
  await client.query(
    `insert into public.${MIGRATIONS_TABLE} (name, run_on) select name, now() from unnest($1::text[]) with ordinality as one (name, place) order by place`,
    [squashed],
  );
  await client.query('commit');
}

/**
 * Lets a database through that has none of our migrations, or the first of them. Puts the squashed migrations in a database that had all of the older ones.
 * `ours` are the names of our migrations in order. Errors: StartError for a database that is older than that, and for one that another version has migrated.
 */
export async function requireBaseline(client: pg.Client, ours: readonly string[]): Promise<void> {
  const ran = await listMigrations(client);
  if (ran.every((name, place) => name === ours[place])) return;
  const { last, more, digest, squashed } = BEFORE;
  const older = ran.at(-1) === more ? ran.slice(0, -1) : ran;
  if (hash('sha256', older.join('\n')) === digest) return stampBaseline(client, ours.slice(0, ours.indexOf(squashed) + 1));
  const newest = ran.at(-1) ?? '';
  if (/^\d{4}_/.test(newest) && newest < last)
    throw new StartError(
      `The database stands at migration ${newest} and is too old for this version, which begins at ${last}: start a version that has ${last} once, then this one. docs/operations.md says under "Upgrading" how to get it.`,
    );
  throw new StartError(
    `The database was migrated by another version: it stands at ${newest}, and this version ends at ${ours.at(-1) ?? 'none'}. Start the version that migrated it, or a later one.`,
  );
}
