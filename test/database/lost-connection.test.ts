import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const DATABASE = join(import.meta.dirname, '..', '..', 'src', 'database');

/** In a process of its own, which an error that nobody listens to would end. */
const program = (url: string, loses: boolean) => `
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from ${JSON.stringify(join(DATABASE, 'database.ts'))};
import { sql } from ${JSON.stringify(join(DATABASE, 'sql.ts'))};
const db = openDatabase({ url: ${JSON.stringify(url)}, max: 4 });
const pid = sql('test')\`select pg_backend_pid() as pid\`;
const said = await db.transaction(async (tx) => {
  const { pid: mine } = await tx.one(pid);
  if (${String(loses)}) await db.run(sql('test')\`select pg_terminate_backend(\${mine})\`);
  await sleep(200);
  return (await tx.one(pid)).pid === mine ? 'kept' : 'another';
}).catch((error) => error.code);
console.log(said, (await db.one(sql('test')\`select 1 as one\`)).one);
await db.close();
`;

let clone: TestDatabase;
beforeAll(async () => {
  clone = await cloneDatabase();
});
afterAll(() => clone.drop());

test.each([
  { loses: false, said: 'kept 1\n' },
  { loses: true, said: 'DATABASE_UNAVAILABLE 1\n' },
])('a connection that is lost between two statements fails that transaction and nothing else (lost: $loses)', async ({ loses, said }) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program(clone.url, loses)]);
  expect(stdout).toBe(said);
});
