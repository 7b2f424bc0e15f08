/** What commands do when they lose Postgres. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson } from '../support/cast.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { beginServer, sharedSite } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let proxy: FaultProxy;
let url: string;
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-lost-'));

beforeAll(async () => {
  site = await sharedSite();
  const [, database, socket] = /\/([^/?]+)\?host=(.+)$/.exec(site.database.url) ?? [];
  proxy = await startFaultProxy({ path: `${decodeURIComponent(socket ?? '')}/.s.PGSQL.5432` });
  url = `postgres://postgres@127.0.0.1:${proxy.port}/${database ?? ''}`;
  await makePerson(site.database.db, 'ada');
});
afterAll(async () => {
  await proxy.close();
  await site.remove();
  rmSync(folder, { recursive: true, force: true });
});

const through = (...words: string[]) => runCommand({ url, dataDir: site.folder }, ...words);

test.each([
  { saying: 'pg_advisory_lock', words: ['user', 'create-key', '--email', 'ada@example.com'] },
  { saying: 'obj_description', words: ['lake', 'status'] },
  { saying: 'begin isolation level', words: ['backup', 'beginning'] },
  { saying: 'copy (select', words: ['backup', 'copying'] },
  { saying: 'published_version', words: ['backup', 'reading'] },
])('a command whose statement $saying has no answer ends with a sentence', async ({ saying, words: [command = '', ...rest] }) => {
  const words = (attempt: string) => [command, ...rest.map((word) => (command === 'backup' ? join(folder, word + attempt) : word))];
  expect(await through(...words('-whole'))).toMatchObject({ code: 0 });
  await proxy.set({ kind: 'unanswered', saying });
  const met = proxy.met.get('unanswered') ?? 0;
  expect(await through(...words('-lost'))).toMatchObject({
    code: 1,
    problem: 'The connection to Postgres was lost (read ECONNRESET); try again once it answers.\n',
  });
  expect(proxy.met.get('unanswered')).toBeGreaterThan(met);
  await proxy.set({ kind: 'none' });
});

test('so does a service that starts', async () => {
  await proxy.set({ kind: 'unanswered', saying: 'obj_description' });
  const { code, text } = await beginServer({ DATABASE_URL: url, DATA_DIR: site.folder }).ended;
  expect([code, text]).toEqual([1, expect.stringMatching(/^fieldlake cannot start: the connection to Postgres was lost/i)]);
  await proxy.set({ kind: 'none' });
});

test('a command that lost its hold on the tables takes it again, or ends where another version changed them', async () => {
  const admin = new pg.Client({ connectionString: site.database.url });
  await admin.connect();
  const held = async () => {
    const { rows } = await admin.query<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted and database = (select oid from pg_database where datname = current_database())
         and (classid::bigint << 32) | objid::bigint = 7310586412004`,
    );
    return rows[0]?.pid ?? 0;
  };
  const lookedAt = async () =>
    (await admin.query(`select from pg_locks where not granted and relation = 'lake_tables'::regclass`)).rowCount;
  /** Ends the hold of a command that waits for a table. */
  const lose = async (meanwhile: () => Promise<unknown>) => {
    await admin.query('begin; lock table lake_tables in access exclusive mode');
    const ended = through('lake', 'status');
    expect(await eventually(lookedAt, (count) => count === 1, 60_000)).toBe(1);
    const first = await held();
    expect(first).toBeGreaterThan(0);
    await meanwhile();
    await admin.query('select pg_terminate_backend($1)', [first]);
    return { ended, first };
  };
  const kept = await lose(async () => undefined);
  const again = await eventually(held, (pid) => pid !== 0 && pid !== kept.first, 60_000);
  expect([0, kept.first]).not.toContain(again);
  await admin.query('commit');
  expect(await kept.ended).toMatchObject({ code: 0 });

  const other = new pg.Client({ connectionString: site.database.url });
  await other.connect();
  const { rows } = await other.query<{ digest: string }>(`select obj_description('effective_access'::regclass) as digest`);
  const overtaken = await lose(() => other.query(`comment on view effective_access is 'another'`));
  expect(await overtaken.ended).toMatchObject({ code: 1, problem: expect.stringContaining('Another version has changed the tables') });
  await admin.query('rollback');
  await other.query(`comment on view effective_access is '${rows[0]?.digest ?? ''}'`);
  await Promise.all([admin.end(), other.end()]);
});
