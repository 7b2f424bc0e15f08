import { channel } from 'node:diagnostics_channel';
import pg from 'pg';
import { isConnectionLost, translateDatabaseError } from './errors.ts';
import { readJson } from '../json.ts';
import { retry } from './retry.ts';
import { addSettings } from './settings.ts';
import type { Query } from './sql.ts';
import { keepConnected } from './standing.ts';

/** Which rows of a list are answered. */
export interface Slice {
  limit: number;
  offset: number;
}

/** What statements run on: the pool, or one transaction. */
export interface Queryable {
  /** All rows, with the columns aliased to their wire names by the statement. */
  rows<T>(query: Query): Promise<T[]>;
  /** The first row, or undefined. */
  one<T>(query: Query): Promise<T | undefined>;
  /** What the rows have in their only column. */
  values<T>(query: Query): Promise<T[]>;
  /** What the first row has in its only column, or undefined. */
  value<T>(query: Query): Promise<T | undefined>;
  /** What the first row has in its column `count`; 0 without a row. */
  count(query: Query): Promise<number>;
  /** Number of rows that the statement changed. */
  run(query: Query): Promise<number>;
}

export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

export interface Database extends Queryable {
  /** Runs work in one transaction; a serialization failure or deadlock is tried again up to three times. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Listens on a Postgres channel until the returned function is called. It connects anew when the connection is lost; what was said meanwhile is not heard.
   */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  /** Asks whether the database answers and takes writes. */
  ping(): Promise<void>;
  /** How many statements wait for a connection. */
  readonly waiting: number;
  close(): Promise<void>;
}

interface DatabaseOptions {
  url: string;
  /** Role that every statement runs as; it cannot change or delete audit events. */
  role?: string;
  max?: number;
  statementTimeoutMs?: number;
  /** Further session settings. */
  settings?: Readonly<Record<string, string>>;
  onQuery?: (label: string, milliseconds: number) => void;
}

// Our counts and keys stay far below 2^53; a statement selects larger numbers as text. Dates are answered as ISO text, never as local time.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text: string) => new Date(text));
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
types.setTypeParser(pg.types.builtins.BYTEA, 'binary', (bytes: Buffer) => bytes);
types.setTypeParser(pg.types.builtins.JSON, (text: string) => readJson(text));
types.setTypeParser(pg.types.builtins.JSONB, (text: string) => readJson(text));

/** Publishes the label of every statement as it is sent, for a tracer or a test, in the asynchronous context of the sender. */
export const sent = channel('fieldlake.statement');

type Runner = Pick<pg.ClientBase, 'query'>;
type OnQuery = DatabaseOptions['onQuery'];

/** Runs work on a connection, and names what fails of it by its label. */
async function translated<T>(label: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw translateDatabaseError(error, label);
  }
}

async function observed<T>({ label }: Query, onQuery: OnQuery, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  sent.publish(label);
  try {
    return await translated(label, run);
  } finally {
    onQuery?.(label, performance.now() - start);
  }
}

const valuesOf = <T>({ rows }: pg.QueryResult): T[] => rows.flatMap((row: object) => Object.values(row) as T[]);

function queryable(runner: Runner, onQuery: OnQuery): Queryable {
  const execute = (query: Query): Promise<pg.QueryResult> =>
    observed(query, onQuery, () => {
      const { name, text, values, binary = false } = query;
      const asked = { name, text, values: values as unknown[], types, binary };
      return runner.query(asked);
    });
  return {
    rows: async <T>(query: Query) => (await execute(query)).rows as T[],
    one: async <T>(query: Query) => (await execute(query)).rows[0] as T | undefined,
    values: async <T>(query: Query) => valuesOf<T>(await execute(query)),
    value: async <T>(query: Query) => valuesOf<T>(await execute(query))[0],
    count: async (query: Query) => ((await execute(query)).rows[0] as { count: number } | undefined)?.count ?? 0,
    run: async (query: Query) => (await execute(query)).rowCount ?? 0,
  };
}

/** How long we wait for a connection. */
const ACQUIRE_MS = 5_000;
/** How long after the server's own limit we stop waiting for an answer. A server that cannot be reached ends no statement. */
const SILENT_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;
/** How long a transaction may wait for its next statement. */
const IDLE_MS = 60_000;
/** Fails as a write would; a pool drops the connection of a statement that failed, and the next one may lead elsewhere. */
const PING = `do $$ begin
  if current_setting('transaction_read_only')::boolean then raise sqlstate '25006' using message = 'the database is read-only'; end if;
end $$`;

const TRIES = 4;
const isRetryable = (error: unknown): boolean =>
  error instanceof Error && ['40001', '40P01'].includes(String((error.cause as { code?: unknown } | undefined)?.code));

/** Listens with a connection of its own, and with a new one whenever that is lost. The first must succeed. */
async function listenOn(url: string, channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
  const { stop } = await keepConnected(url, async (client) => {
    client.on('notification', (message) => heard(message.payload ?? ''));
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  });
  return stop;
}

/** Opens a pool. Nothing connects until the first statement. */
export function openDatabase({
  url,
  role,
  max = 20,
  statementTimeoutMs = 30_000,
  settings: more = {},
  onQuery,
}: DatabaseOptions): Database {
  const settings = {
    ...more,
    timezone: 'UTC',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_MS,
    ...(role === undefined ? {} : { role }),
  };
  const pool = new pg.Pool({
    connectionString: addSettings(url, settings),
    max,
    connectionTimeoutMillis: ACQUIRE_MS,
    query_timeout: statementTimeoutMs + SILENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', () => undefined);
  // a connection may be lost between two statements of a transaction; the next statement then fails
  pool.on('connect', (client) => client.on('error', () => undefined));

  const attempt = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const client = await translated('connect', () => pool.connect());
    let broken: Error | undefined;
    try {
      const inner = queryable(client, onQuery);
      await translated('begin', () => client.query('begin'));
      const result = await work({ ...inner, inTransaction: true });
      await translated('commit', () => client.query('commit'));
      return result;
    } catch (error) {
      // nobody answers on a lost connection, and the server itself ends the transaction
      if (isConnectionLost(error)) broken = error;
      else
        await client.query('rollback').catch((failed: Error) => {
          broken = failed;
        });
      throw error;
    } finally {
      client.release(broken);
    }
  };

  return {
    ...queryable(pool, onQuery),
    transaction: (work) =>
      retry(TRIES, isRetryable, (tries) => {
        if (tries > 1) sent.publish('transaction.again');
        return attempt(work);
      }),
    listen: (channel, heard) => listenOn(url, channel, heard),
    ping: async () => {
      await translated('ping', () => pool.query(PING));
    },
    get waiting() {
      return pool.waitingCount;
    },
    close: () => pool.end(),
  };
}
