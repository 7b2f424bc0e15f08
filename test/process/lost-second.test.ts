/** A failover that loses the last commits of Postgres, while the lake, in a bucket or a folder, has what they published. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, numberedCsv, sendCsv } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const ROWS = 10;

let site: Awaited<ReturnType<typeof sharedSite>>;
let owner: Person;
let experimentId: string;
let tableId: string;

beforeAll(async () => {
  site = await sharedSite();
  owner = await makePerson(site.database.db, 'owner');
});
afterAll(() => site?.remove());

async function withServer<T>(url: string, work: (server: ServerProcess) => Promise<T>): Promise<T> {
  const server = await spawnServer({ ...site.environment, DATABASE_URL: url });
  try {
    return await work(server);
  } finally {
    await server.kill('SIGTERM');
  }
}

async function sendRows(server: ServerProcess, file: number, fields: Record<string, string>): Promise<string> {
  const sent = await sendCsv(server, owner, { experimentId, fields }, `${file}.csv`, numberedCsv(file, ROWS));
  expect(sent?.code).toBe(201);
  const path = `/api/v1/experiments/${experimentId}/data/uploads/${sent!.uploadId}`;
  const ended = await eventually(
    () => getJson(server, owner, path),
    ({ status }) => ['completed', 'failed'].includes(status),
    30_000,
  );
  expect(ended.status).toBe('completed');
  return sent!.uploadTableId;
}

async function filesOf(server: ServerProcess): Promise<number[]> {
  const [page] = await getJson(server, owner, `/api/v1/experiments/${experimentId}/data?tableName=${tableId}&pageSize=100`);
  return [...new Set(page.data.rows.map(({ file }: { file: number }) => file) as number[])].sort();
}

/** Versions that wait to be published, as operators are told. */
async function waiting(server: ServerProcess): Promise<number> {
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text();
  return Number(/^lake_log_waiting_versions (\d+)/m.exec(text)?.[1]);
}
const published = (server: ServerProcess) => expect.poll(() => waiting(server), { timeout: 20_000 }).toBe(0);

const logFolder = () => join(site.folder, 'lake', 'tables', experimentId, tableId, '_delta_log');

test('commits that a failover lost leave rows as they are, and a log of the table that is begun anew as the documentation says', async () => {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const [, name = ''] = /\/([^/?]+)\?/.exec(site.database.url) ?? [];
  const heir = site.database.url.replace(name, `${name}_heir`);
  const ask = async (text: string) => {
    const client = new pg.Client({ connectionString: heir });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  try {
    await withServer(site.database.url, async (server) => {
      const headers = { 'x-api-key': owner.apiKey, 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'Lost' });
      const made = await fetch(`${server.baseUrl}/api/v1/experiments`, { method: 'POST', headers, body });
      experimentId = ((await made.json()) as { id: string }).id;
      tableId = await sendRows(server, 1, { targetKind: 'new', targetName: 'lost' });
      await published(server);
    });
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await admin.query(`create database ${name}_heir template ${name}`);
    await withServer(site.database.url, async (server) => {
      await sendRows(server, 2, { targetKind: 'existing', uploadTableId: tableId });
      await published(server);
    });
    await withServer(heir, async (server) => {
      expect(await filesOf(server)).toEqual([1]);
      await sendRows(server, 3, { targetKind: 'existing', uploadTableId: tableId });
      await expect.poll(() => server.output(), { timeout: 20_000 }).toContain('docs/growing.md');
      expect(server.output()).toContain('the log of a table could not be published');
      expect(await waiting(server)).toBeGreaterThan(0);
      expect(await filesOf(server)).toEqual([1, 3]);
    });
    rmSync(logFolder(), { recursive: true });
    await ask(`delete from lake_log where table_id = '${tableId}'`);
    await ask(`update lake_tables set log_state = null, published_version = null, log_from = null where id = '${tableId}'`);
    const begun = await runCommand({ url: heir, dataDir: site.folder }, 'lake', 'migrate');
    expect(begun.json, begun.problem).toMatchObject({ tables: 1 });
    await withServer(heir, async (server) => {
      await published(server);
      expect(readdirSync(logFolder())).toContain('00000000000000000002.json');
      await sendRows(server, 4, { targetKind: 'existing', uploadTableId: tableId });
      await published(server);
      expect(await filesOf(server)).toEqual([1, 3, 4]);
    });
  } finally {
    await admin.query(`drop database if exists ${name}_heir with (force)`);
    await admin.end();
  }
});

test('a process that lives on across such a failover forgets the versions that were lost', async () => {
  const own = await sharedSite();
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const [, name = ''] = /\/([^/?]+)\?/.exec(own.database.url) ?? [];
  const alone = (database: string) =>
    admin
      .query(`alter database ${database} allow_connections false`)
      .then(() => admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${database}'`));
  const settings = { ...own.environment, RESULT_CACHE_MB: '16' };
  try {
    owner = await makePerson(own.database.db, 'heir');
    const first = await spawnServer(settings);
    const headers = { 'x-api-key': owner.apiKey, 'content-type': 'application/json' };
    const made = await fetch(`${first.baseUrl}/api/v1/experiments`, { method: 'POST', headers, body: JSON.stringify({ name: 'Lost' }) });
    experimentId = ((await made.json()) as { id: string }).id;
    tableId = await sendRows(first, 1, { targetKind: 'new', targetName: 'lost' });
    await published(first);
    await first.kill('SIGTERM');
    await alone(name);
    await admin.query(`create database ${name}_heir template ${name}`);
    await admin.query(`alter database ${name} allow_connections true`);

    const server = await spawnServer(settings);
    const ask = (tag = '""') =>
      fetch(`${server.baseUrl}/api/v1/experiments/${experimentId}/data?tableName=${tableId}&pageSize=100`, {
        headers: { 'x-api-key': owner.apiKey, 'if-none-match': tag },
      });
    try {
      await sendRows(server, 2, { targetKind: 'existing', uploadTableId: tableId });
      expect(await filesOf(server)).toEqual([1, 2]);
      const lost = await ask();
      const tag = lost.headers.get('etag') ?? '';
      expect([lost.headers.get('x-table-version'), (await ask(tag)).status]).toEqual(['2', 304]);

      await alone(name);
      await admin.query(`alter database ${name} rename to ${name}_lost`);
      await admin.query(`alter database ${name}_heir rename to ${name}`);
      await expect.poll(async () => (await ask()).headers.get('x-table-version'), { timeout: 20_000 }).toBe('1');
      expect(await filesOf(server)).toEqual([1]);
      await sendRows(server, 3, { targetKind: 'existing', uploadTableId: tableId });
      expect(await filesOf(server)).toEqual([1, 3]);
      const again = await ask(tag);
      expect([again.status, again.headers.get('x-table-version')]).toEqual([200, '2']);
    } finally {
      await server.kill('SIGTERM');
    }
  } finally {
    for (const each of ['_heir', '_lost']) await admin.query(`drop database if exists ${name}${each} with (force)`);
    await admin.end();
    await own.remove();
  }
});
