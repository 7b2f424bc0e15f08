import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { useConnection } from '../../src/database/connection.ts';
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { keepConnected } from '../../src/database/standing.ts';
import { openJobQueue } from '../../src/jobs/queue.ts';
import { cloneDatabase, emptyDatabase } from '../support/database.ts';

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

const limit = (client: pg.Client, name: string) =>
  client.query(`do $$ begin execute format('alter database %I set ${name} = ${LIMIT_MS}', current_database()); end $$`);

test.concurrent('what a session holds, and the queue, outlast the idle_session_timeout of their database', async () => {
  const database = await cloneDatabase();
  const { url } = database;
  try {
    await useOwn(url, (client) => limit(client, 'idle_session_timeout'));
    let begun = 0;
    const told: Error[] = [];
    const standing = await keepConnected(url, async () => (begun += 1));
    const queue = await openJobQueue({ url, role: APPLICATION_ROLE, onError: (error) => told.push(error) });
    await sleep(LONGER_MS);
    expect([begun, told]).toEqual([1, []]);
    await Promise.all([standing.stop(), queue.stop()]);
  } finally {
    await database.drop();
  }
});

test.concurrent.each(LIMITED)('migrations and backups take longer than the %s of their database', async (name, work) => {
  const database = await emptyDatabase();
  const { url } = database;
  try {
    await useOwn(url, async (holder) => {
      await limit(holder, name);
      await expect(useOwn(url, (client) => work(client, holder))).rejects.toThrow();
      await useConnection(url, (client) => work(client, holder));
    });
  } finally {
    await database.drop();
  }
});
