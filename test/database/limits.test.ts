import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { useConnection } from '../../src/database/connection.ts';
import { emptyDatabase } from '../support/database.ts';

const LIMIT_MS = 1_000;
const LONGER_MS = 2 * LIMIT_MS;

async function rest(client: pg.Client): Promise<void> {
  await client.query('begin');
  await sleep(LONGER_MS);
  await client.query('commit');
}

async function waitForLock(client: pg.Client, holder: pg.Client): Promise<void> {
  await holder.query('select pg_advisory_lock(1)');
  const letGo = sleep(LONGER_MS).then(() => holder.query('select pg_advisory_unlock(1)'));
  await client.query('select pg_advisory_lock(1)').finally(() => letGo);
}

async function useOwn(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await work(client).finally(() => client.end());
}

const LIMITED: [name: string, work: (client: pg.Client, holder: pg.Client) => Promise<unknown>][] = [
  ['statement_timeout', (client) => client.query(`select pg_sleep(${LONGER_MS / 1_000})`)],
  ['lock_timeout', waitForLock],
  ['transaction_timeout', rest],
  ['idle_in_transaction_session_timeout', rest],
  ['idle_session_timeout', (client) => sleep(LONGER_MS).then(() => client.query('select'))],
];

test.concurrent.each(LIMITED)('migrations and backups take longer than the %s of their database', async (name, work) => {
  const database = await emptyDatabase();
  const { url } = database;
  try {
    await useOwn(url, async (holder) => {
      await holder.query(`do $$ begin execute format('alter database %I set ${name} = ${LIMIT_MS}', current_database()); end $$`);
      await expect(useOwn(url, (client) => work(client, holder))).rejects.toThrow();
      await useConnection(url, (client) => work(client, holder));
    });
  } finally {
    await database.drop();
  }
});
