/**
 * Shows through Postgres which jobs a process works on: each is a lock, which ends with the process's connection, and so at once with the process. It also
 * shows which jobs wait.
 */
import { keepConnected } from '../database/standing.ts';
import { Turns } from '../waiting.ts';

interface Job {
  id: string;
  name: string;
}

export interface Presence {
  /** Says that this process works on a job, until the returned function is called. Does not wait for Postgres. */
  hold(jobId: string): () => void;
  /** Takes work that is better done by one process at a time, until the returned function is called. Null when another process has it, or without a connection. */
  claim(work: string): Promise<(() => void) | null>;
  /** Finds jobs that count as running and that no process works on, and the names of jobs that were put off and are due. */
  look(): Promise<{ abandoned: Job[]; due: string[] }>;
  /** Lets a job that was given back run without the pause that is made after a failure. */
  hasten(jobId: string): Promise<unknown>;
  stop(): Promise<void>;
}

const lockOf = (id: string) => `hashtextextended('job ' || ${id}, 0)`;
const CLAIM = "hashtextextended('work ' || $1::text, 0)";

/** Postgres shows a lock of one 64-bit number as two halves: https://www.postgresql.org/docs/current/view-pg-locks.html */
const LOOK = `
  select id::text, name from pgboss.job where state = 'active' and policy = 'exclusive' and ${lockOf('id')} not in (
    select (classid::bigint << 32) | objid::bigint from pg_locks
    where locktype = 'advisory' and objsubid = 1 and database = (select oid from pg_database where datname = current_database()))
  union all
  select distinct null, name from pgboss.job where state < 'active' and not blocked and start_after <= now()`;

/** Connects; the locks of a connection that is lost are taken again by the next one. */
export async function openPresence(url: string): Promise<Presence> {
  const held = new Set<string>();
  /** One statement runs after the other. */
  const turns = new Turns();
  // shared locks, so that no process waits for one that was given up and does not know it
  const { client, stop } = await keepConnected(url, (fresh) =>
    turns.take(async () => {
      await fresh.query('select pg_advisory_unlock_all()');
      await fresh.query(`select pg_advisory_lock_shared(${lockOf('id')}) from unnest($1::text[]) id`, [[...held]]);
    }),
  );
  /** Asks on the connection. One that does not answer is given up, and the next one takes the locks that are held then. */
  const ask = <T extends Record<string, unknown>>(text: string, values: unknown[] = [], name?: string): Promise<T[]> =>
    turns.take(async () => {
      const asked = client();
      try {
        return (await asked?.query<T>({ text, values, name }))?.rows ?? [];
      } catch (error) {
        void asked?.end();
        throw error;
      }
    });
  const say = (verb: 'lock' | 'unlock', jobId: string) => {
    ask(`select pg_advisory_${verb}_shared(${lockOf('$1::text')})`, [jobId]).catch(() => undefined);
  };
  return {
    hold: (jobId) => {
      held.add(jobId);
      say('lock', jobId);
      return () => {
        held.delete(jobId);
        say('unlock', jobId);
      };
    },
    claim: async (work) => {
      const [answer] = await ask<{ isMine: boolean }>(`select pg_try_advisory_lock(${CLAIM}) as "isMine"`, [work]);
      if (answer?.isMine !== true) return null;
      return () => {
        ask(`select pg_advisory_unlock(${CLAIM})`, [work]).catch(() => undefined);
      };
    },
    look: async () => {
      // prepared: to plan it took most of its millisecond
      const found = await ask<{ id: string | null; name: string }>(LOOK, [], 'look');
      return {
        abandoned: found.filter((job): job is Job => job.id !== null),
        due: found.filter(({ id }) => id === null).map(({ name }) => name),
      };
    },
    hasten: (jobId) => ask("update pgboss.job set start_after = now() where id = $1 and state = 'retry'", [jobId]),
    stop: async () => {
      await turns.take(async () => undefined);
      await stop();
    },
  };
}
