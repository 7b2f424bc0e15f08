import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { makeApiKey } from '../../src/auth/proofs/api-keys.ts';
import { startEmbeddedPostgres } from '../../src/database/embedded.ts';
import { runCommand } from '../support/command.ts';
import { failing, spawnServer } from '../support/process.ts';

test('a role that owns its database and may create roles is enough, with one right more to restore, and a start that fails says why', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-plain-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  const run = async (database: string, text: string) => {
    const admin = new pg.Client({ connectionString: postgres.urlOf(database) });
    await admin.connect();
    await admin.query(text).finally(() => admin.end());
  };
  const urlOf = (database: string) => postgres.urlOf(database).replace('postgres@', 'plain@');
  const settings = { DATA_DIR: join(folder, 'own'), DATABASE_URL: urlOf('plain') };
  const starts = async () => {
    const server = await spawnServer(settings);
    const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
    expect(await ready()).toBe(200);
    await run('postgres', 'alter role plain nologin');
    await run('postgres', "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'plain'");
    await expect.poll(ready, { timeout: 10_000 }).toBe(503);
    expect(await (await fetch(`${server.adminUrl}/health/ready`)).text()).toContain('is not permitted to log in');
    await run('postgres', 'alter role plain login');
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
    await server.kill('SIGTERM');
  };
  try {
    await run('postgres', 'create role plain login');
    await run('postgres', 'create database plain owner plain');
    expect(await failing(settings)).toMatchObject({ code: 1, text: expect.stringContaining('alter role ROLE createrole') });
    await run('postgres', 'alter role plain createrole');
    // a schema that it may have, and one that is not there
    await run('plain', 'create schema elsewhere authorization plain');
    await run('postgres', 'alter role plain set search_path = elsewhere, nowhere');
    await starts();
    // as after an upgrade that changes views alone
    await run('plain', 'comment on view effective_access is null');
    await starts();

    const backup = await runCommand({ url: urlOf('plain'), dataDir: settings.DATA_DIR }, 'backup', join(folder, 'backup'));
    expect(backup.code, backup.problem).toBe(0);
    await run('postgres', 'create database heir owner plain');
    const heir = { url: urlOf('heir'), dataDir: join(folder, 'heir') };
    const refused = await runCommand(heir, 'restore', join(folder, 'backup'));
    expect(refused.problem).toContain('grant set on parameter session_replication_role to ROLE');
    await run('postgres', 'grant set on parameter session_replication_role to plain');
    const restored = await runCommand(heir, 'restore', join(folder, 'backup'));
    expect(restored.code, restored.problem).toBe(0);

    // another installation on the same server, whose role did not make the application role
    await run('postgres', 'create role second login createrole');
    await run('postgres', 'create database second owner second');
    const second = { DATA_DIR: join(folder, 'second'), DATABASE_URL: postgres.urlOf('second').replace('postgres@', 'second@') };
    expect(await failing(second)).toMatchObject({ code: 1, text: expect.stringContaining('grant fieldlake_app to ROLE') });
    await run('postgres', 'grant fieldlake_app to second');
    await (await spawnServer(second)).kill('SIGTERM');

    await run('plain', 'revoke insert on lake_place from fieldlake_app');
    expect(await failing(settings)).toMatchObject({ code: 1, text: expect.stringContaining('permission denied for table lake_place') });
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a service is not ready while Postgres has no connection left to admit callers by', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-plain-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  const admin = new pg.Client({ connectionString: postgres.urlOf('postgres') });
  try {
    await admin.connect();
    await admin.query('create role plain login createrole');
    await admin.query('create database plain owner plain');
    const server = await spawnServer({
      DATA_DIR: join(folder, 'own'),
      DATABASE_URL: postgres.urlOf('plain').replace('postgres@', 'plain@'),
    });
    const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
    const ask = async () => (await fetch(`${server.baseUrl}/api/v1/experiments`, { headers: { 'x-api-key': makeApiKey().key } })).status;
    expect([await ready(), await ask()]).toEqual([200, 401]);
    await admin.query('alter role plain connection limit 1');
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'plain' and query like '%api_key_windows%'");
    await expect.poll(ask).toBe(503);
    expect(await ready()).toBe(503);
    expect(await (await fetch(`${server.adminUrl}/health/ready`)).text()).toContain('too many connections for role');
    await admin.query('alter role plain connection limit -1');
    expect([await ready(), await ask()]).toEqual([200, 401]);
    await server.kill('SIGTERM');
  } finally {
    await admin.end();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
