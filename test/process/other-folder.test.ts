/** A second machine with a data folder of its own, on the Postgres of the first. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { failing, spawnServer } from '../support/process.ts';

const root = mkdtempSync(join(tmpdir(), 'fieldlake-other-'));
let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});

test('a process or command with another data folder is refused; it begins with that one by what docs/operations.md says', async () => {
  const environment = { SECRET: randomBytes(32).toString('hex'), BASE_URL: 'https://field.example.org' };
  const server = (folder: string) => ({ ...environment, DATABASE_URL: database.url, DATA_DIR: join(root, folder) });
  const verify = (folder: string) => runCommand({ url: database.url, dataDir: join(root, folder), environment }, 'lake', 'verify');
  const first = await spawnServer(server('one'));
  const words = expect.stringContaining('is not the lake of this database');
  expect(await failing(server('two'))).toMatchObject({ code: 1, text: words });
  await (await spawnServer(server('one'), 'worker')).kill('SIGTERM');
  await first.kill('SIGTERM');
  expect(await verify('one')).toMatchObject({ code: 0 });
  expect(await verify('two')).toMatchObject({ code: 1, problem: words });
  const [, line] = /^psql "\$DATABASE_URL" -c '(update lake_place .*)'$/m.exec(readFileSync('docs/operations.md', 'utf8'))!;
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(line!);
  await client.end();
  await (await spawnServer(server('two'))).kill('SIGTERM');
  expect(await failing(server('one'))).toMatchObject({ code: 1, text: words });
});
