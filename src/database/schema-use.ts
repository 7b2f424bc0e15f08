/** Keeps the tables as they are while processes use them: each holds a lock with the schema that it knows, and whoever changes that must be alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '../errors.ts';
import { keepConnected } from './standing.ts';

const SCHEMA_LOCK = 7_310_586_412_004;
/** Milliseconds that processes of another version, which may be stopping, are waited for. */
const ALONE_MS = 10_000;
const AGAIN_MS = 250;

/** Connections of processes at work. Those of 0.2.0 and before hold no lock, but one for jobs. */
const OTHERS = `
  select pid, coalesce(host(client_addr), 'this machine') as address from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and (application_name = 'pgboss' or pid in (
    select pid from pg_locks where locktype = 'advisory' and objsubid = 1 and granted and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32) | objid::bigint = ${SCHEMA_LOCK}))
  order by address, pid`;

/** Whether the views and the application role's rights are those of a digest, and so the migrations before them. */
export async function hasSchema(client: pg.Client, digest: string, role: string): Promise<boolean> {
  const { rows } = await client.query<{ written: string | null }>(
    `select obj_description(to_regclass('public.effective_access'), 'pg_class') as written from pg_roles where rolname = $1`,
    [role],
  );
  return rows[0]?.written === digest;
}

/** Runs a change of the schema while no other process uses it. Errors: StartError with those that do. */
export async function changeAlone(client: pg.Client, change: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + ALONE_MS; ; await sleep(AGAIN_MS)) {
    const { rows } = await client.query<{ pid: number; address: string }>(OTHERS);
    if (rows.length === 0 && (await client.query(`select where pg_try_advisory_lock(${SCHEMA_LOCK})`)).rowCount === 1) break;
    if (rows.length === 0 || performance.now() < end) continue;
    const places = [...new Set(rows.map(({ address }) => address))].join(', ');
    throw new StartError(
      `Processes of another version use this database (on ${places}), and this version must change its tables: stop them, then start this one again. What a machine that is gone left connected ends by "select pg_terminate_backend(pid) from unnest(array[${rows.map(({ pid }) => pid).join(', ')}]) pid".`,
    );
  }
  await change();
  await client.query(`select pg_advisory_unlock(${SCHEMA_LOCK})`);
}

interface SchemaHold {
  url: string;
  isCurrent: (client: pg.Client) => Promise<boolean>;
  onOvertaken: (error: StartError) => void;
  onBack: () => void;
}

/**
 * Holds the schema until the returned function is called. A connection that is lost is made anew; when another version has changed the schema meanwhile,
 * `onOvertaken` is called, each time that is seen. `onBack` is called for each connection but the first.
 */
export async function holdSchema({ url, isCurrent, onOvertaken, onBack }: SchemaHold): Promise<() => Promise<void>> {
  let isFirst = true;
  const { stop } = await keepConnected(url, async (client) => {
    if (!isFirst) onBack();
    isFirst = false;
    // Postgres notices within half a minute that a machine is gone
    await client.query('set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4');
    const { rowCount } = await client.query(`select where pg_try_advisory_lock_shared(${SCHEMA_LOCK})`);
    if (rowCount === 0) throw new StartError('The tables are being changed.');
    if (await isCurrent(client)) return;
    const overtaken = new StartError(
      'Another version has changed the tables of this database meanwhile; start that version in place of this one.',
    );
    onOvertaken(overtaken);
    throw overtaken;
  });
  return stop;
}
