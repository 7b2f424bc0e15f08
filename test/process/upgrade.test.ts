import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { printSchema } from '../../scripts/schema.queries.ts';
import { createApiKey } from '../../src/api/credentials/credentials.service.ts';
import { openDatabase } from '../../src/database/database.ts';
import { runCommand } from '../support/command.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database.ts';
import { beginServer, failing, spawnServer } from '../support/process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BASELINE = join(ROOT, 'fixtures', 'baseline');
const OURS = readdirSync(join(ROOT, 'sql', 'migrations'))
  .map((name) => basename(name, '.sql'))
  .sort();

const remove: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const each of remove.reverse()) await each();
});

async function ask<T extends object>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** A database with a data folder, and what a server must be told to start on them. */
async function makeSite(made: Promise<TestDatabase>) {
  const database = await made;
  const { url, db } = database;
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-upgrade-'));
  remove.push(async () => {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { url, db, folder, environment: { DATABASE_URL: url, DATA_DIR: folder, SAMPLE_DATA: 'off' } };
}

/** What the last version before the squash left behind. */
async function makeOldSite() {
  const site = await makeSite(emptyDatabase());
  await ask(site.url, readFileSync(join(BASELINE, 'database.sql'), 'utf8'));
  cpSync(join(BASELINE, 'lake'), join(site.folder, 'lake'), { recursive: true });
  return site;
}

const migrationsOf = async (url: string) =>
  (await ask<{ name: string }>(url, 'select name from schema_migrations order by run_on, id')).map(({ name }) => name);

/** Brings a database up to date as every command does. */
async function runMigrations({ url, folder }: { url: string; folder: string }): Promise<void> {
  const { code, problem } = await runCommand({ url, dataDir: folder }, 'lake', 'status');
  expect(code, problem).toBe(0);
}

/** What `printSchema` leaves out: rights, triggers, names of not-null constraints, settings of tables, sequences, search configurations, comments. */
const REST = `
  select format('rights %s %s', c.oid::regclass, c.relacl) as line from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'S')
  union all select format('rights %s %s', p.oid::regprocedure, p.proacl) from pg_proc p where p.pronamespace = 'public'::regnamespace
  union all select format('rights %s %s', n.nspname, n.nspacl) from pg_namespace n where n.nspname = 'public'
  union all select format('default rights %s', d.defaclacl) from pg_default_acl d
  union all select pg_get_triggerdef(t.oid) from pg_trigger t where not t.tgisinternal
  union all select format('%s %s %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) from pg_constraint c where c.contype = 'n' and c.connamespace = 'public'::regnamespace
  union all select format('settings %s %s', c.oid::regclass, c.reloptions) from pg_class c where c.relnamespace = 'public'::regnamespace and c.reloptions is not null
  union all select format('column %s.%s %s %s %s', a.attrelid::regclass, a.attname, a.attstorage, a.attidentity, a.attstattarget)
    from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  union all select format('sequence %s %s %s %s', s.seqrelid::regclass, s.seqtypid::regtype, s.seqincrement, pg_get_serial_sequence(d.refobjid::regclass::text, a.attname))
    from pg_sequence s left join pg_depend d on d.objid = s.seqrelid and d.deptype in ('a', 'i') and d.refobjsubid > 0
    left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where s.seqrelid::regclass::text !~ '^pgboss'
  union all select format('search %s %s %s %s', c.cfgname, t.alias, m.mapseqno, m.mapdict::regdictionary)
    from pg_ts_config c join pg_ts_config_map m on m.mapcfg = c.oid join ts_token_type(c.cfgparser) t on t.tokid = m.maptokentype where c.cfgnamespace = 'public'::regnamespace
  union all select format('extension %s', e.extname) from pg_extension e
  union all select format('comment %s %s', d.objoid::regclass, d.description) from pg_description d where d.classoid = 'pg_class'::regclass and d.objoid::regclass::text not like 'pg%'
  order by 1`;

async function describeDatabase(url: string): Promise<string> {
  const db = openDatabase({ url, max: 1 });
  try {
    const rest = await ask<{ line: string }>(url, REST);
    return [await printSchema(db), ...rest.map(({ line }) => line)].join('\n');
  } finally {
    await db.close();
  }
}

test.concurrent(
  'a database at the last migration before the squash is stamped and goes on with its data; an older one is refused and left as it is',
  async () => {
    const site = await makeOldSite();
    // as the last version of the history before the squash left it: the one that made the authority is not in there
    await ask(site.url, `drop table authority; delete from schema_migrations where name = '0143_authority'`);
    const all = await migrationsOf(site.url);
    expect(all.at(-1)).toBe('0142_ended_certificates');
    const [last] = await ask<{ id: number; run_on: Date }>(site.url, 'delete from schema_migrations where name = $1 returning *', [
      all.at(-1),
    ]);
    const older = await failing(site.environment);
    expect(older.text).toContain(
      `stands at migration ${all.at(-2)!} and is too old for this version, which begins at ${all.at(-1)!}: start a version that has ${all.at(-1)!} once`,
    );
    expect(older.code).toBe(1);
    expect(await migrationsOf(site.url)).toEqual(all.slice(0, -1));

    // that it ran is all that was missing
    await ask(site.url, 'insert into schema_migrations values ($1, $2, $3)', [last!.id, all.at(-1), last!.run_on]);
    const server = await spawnServer(site.environment);
    try {
      expect(await migrationsOf(site.url)).toEqual(OURS);
      const fresh = await makeSite(cloneDatabase());
      const [stamped, made] = await Promise.all([describeDatabase(site.url), describeDatabase(fresh.url)]);
      expect(made).toContain('rights audit_events');
      expect(stamped).toBe(made);

      const [ada] = await ask<{ id: string }>(site.url, `select id from users where email = 'ada@example.org'`);
      const { key } = await createApiKey(site.db, { userId: ada!.id, name: 'test', rateLimit: 1_000 });
      const api = async (path: string, body?: object): Promise<any> => {
        const response = await fetch(`${server.baseUrl}/api/v1${path}`, {
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
        expect(response.ok, path).toBe(true);
        return response.json();
      };
      const [kept] = (await api('/experiments?search=kept')) as { id: string; name: string }[];
      expect(kept).toMatchObject({ name: 'Kept' });
      const [plots] = await api(`/experiments/${kept!.id}/data?tableName=plots`);
      expect(plots.data.rows).toMatchObject([
        { plot: 1, phi2: 0.61, contributor: { name: 'Ada Lovelace' } },
        { plot: 2, phi2: 0.72 },
        { plot: 3, phi2: 0.55 },
      ]);
      expect(await api(`/experiments/${kept!.id}/locations`)).toMatchObject([{ name: 'North field' }]);
      // and new things go in
      await api('/experiments', { name: 'After the squash' });
      expect(await api('/experiments?search=squash')).toHaveLength(2);
    } finally {
      await server.kill('SIGKILL');
    }
  },
);

test.concurrent('a database that another version has migrated is refused and left as it is', async () => {
  const site = await makeSite(cloneDatabase());
  await runMigrations(site);
  await ask(site.url, `insert into schema_migrations (name, run_on) values ('999_of_tomorrow', now())`);
  const newer = await failing(site.environment);
  expect(newer.text).toContain(`migrated by another version: it stands at 999_of_tomorrow, and this version ends at ${OURS.at(-1)!}.`);
  expect(newer.code).toBe(1);
  expect(await migrationsOf(site.url)).toEqual([...OURS, '999_of_tomorrow']);
});

/** Lets the database look as another version left it, so that a start has something to do. */
const leaveOther = (url: string) => ask(url, `comment on view effective_access is 'of another version'`);

test.concurrent(
  'a version that must change the tables waits for processes of another one to stop, is refused beside them, and starts once they are gone',
  async () => {
    const site = await makeSite(cloneDatabase());
    const [old, same] = await Promise.all([spawnServer(site.environment), spawnServer(site.environment)]);
    // those of one version come and go beside each other
    await same.kill('SIGTERM');
    const next = await spawnServer(site.environment);
    await next.kill('SIGKILL');
    await leaveOther(site.url);
    const beside = await failing(site.environment);
    expect(beside.code).toBe(1);
    expect(beside.text).toMatch(/Processes of another version use this database \(on this machine\), .* stop them, .*pg_terminate_backend/);
    const command = await runCommand({ url: site.url, dataDir: site.folder }, 'lake', 'status');
    expect(command).toMatchObject({ code: 1, problem: expect.stringContaining('Processes of another version use this database') });
    expect((await fetch(`${old.baseUrl}/health/ready`)).status).toBe(200);

    const waiting = spawnServer(site.environment);
    await old.kill('SIGKILL');
    await (await waiting).kill('SIGTERM');

    // one of before there was such a lock
    await leaveOther(site.url);
    const before = new pg.Client({ connectionString: site.url, application_name: 'pgboss' });
    await before.connect();
    expect((await failing(site.environment)).text).toContain('Processes of another version use this database');
    await before.end();
    await (await spawnServer(site.environment)).kill('SIGTERM');
  },
);

test.concurrent(
  'a process that lost Postgres goes on after it, and ends with a sentence where another version has changed the tables meanwhile',
  async ({ expect }) => {
    const site = await makeSite(cloneDatabase());
    const server = await spawnServer(site.environment);
    const cut = () =>
      ask(
        site.url,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    try {
      const held = () =>
        ask(
          site.url,
          `select from pg_locks join pg_database on oid = database where datname = current_database() and locktype = 'advisory' and (classid::bigint << 32) | objid::bigint = 7310586412004`,
        );
      expect(await held()).toHaveLength(1);
      await cut();
      await expect.poll(held, { timeout: 10_000 }).toHaveLength(1);
      await expect.poll(async () => (await fetch(`${server.baseUrl}/health/ready`)).status, { timeout: 10_000 }).toBe(200);
      const ended = new Promise((resolve) => server.child.once('exit', resolve));
      await leaveOther(site.url);
      await cut();
      expect(await ended).toBe(1);
      expect(server.output()).toContain('fieldlake cannot go on: Another version has changed the tables of this database meanwhile');
    } finally {
      await server.kill('SIGKILL');
    }
  },
);

/** Starts a server that comes to wait for a lock in the middle of its migrations, and kills it there; `look` sees what it has done by then. */
async function killMidway(
  { url, environment }: Awaited<ReturnType<typeof makeSite>>,
  hold: string,
  look: () => Promise<void>,
): Promise<void> {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  try {
    await holder.query(`create schema held; ${hold}`);
    await holder.query('select pg_advisory_lock(4711)');
    const { child, ended } = beginServer(environment);
    // the locks of all databases are listed, and another test holds the same one of its own
    const waiting = `select from pg_locks join pg_database on oid = database where datname = current_database() and locktype = 'advisory' and objid = 4711 and not granted`;
    const isWaiting = async () => (await holder.query(waiting)).rowCount === 1;
    for (let tries = 0; tries < 1_200 && !(await isWaiting()); tries += 1) await sleep(50);
    expect(await isWaiting()).toBe(true);
    child.kill('SIGKILL');
    expect((await ended).code).toBe(null);
    await look();
    await holder.query('select pg_advisory_unlock(4711)');
  } finally {
    await holder.end();
  }
}

test.concurrent('migrations that were killed midway go on with the next process', async () => {
  const site = await makeSite(emptyDatabase());
  const done = OURS.findIndex((name) => name.includes('uploads'));
  await killMidway(
    site,
    `create function held.wait() returns event_trigger language plpgsql as $$
     begin
       if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.uploads') then perform pg_advisory_xact_lock(4711); end if;
     end $$;
     create event trigger wait on ddl_command_end when tag in ('CREATE TABLE') execute function held.wait()`,
    async () => expect(await migrationsOf(site.url)).toEqual(OURS.slice(0, done)),
  );
  expect(done).toBeGreaterThan(0);
  await runMigrations(site);
  expect(await migrationsOf(site.url)).toEqual(OURS);
  const fresh = await makeSite(cloneDatabase());
  expect(await describeDatabase(site.url)).toBe(await describeDatabase(fresh.url));
});

test.concurrent('a stamping that was killed midway is done by the next process', async () => {
  const site = await makeOldSite();
  const before = await migrationsOf(site.url);
  await killMidway(
    site,
    `create function held.wait() returns trigger language plpgsql as $$
     begin
       perform pg_advisory_xact_lock(4711);
       return new;
     end $$;
     create trigger wait before insert on schema_migrations for each row when (new.name like '007%') execute function held.wait()`,
    async () => expect(await migrationsOf(site.url)).toEqual(before),
  );
  await runMigrations(site);
  expect(await migrationsOf(site.url)).toEqual(OURS);
});
