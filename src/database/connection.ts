import pg from 'pg';
import { StartError } from '../errors.ts';
import { addSettings } from './settings.ts';

const CONNECT_MS = 15_000;
/** A machine that is gone is noticed within half a minute. */
const KEEP_ALIVE_MS = 10_000;
/** Lifts what the role or the database limits for requests: migrations and backups take as long as the tables are large. */
const LIFT = `
  select set_config(name, '0', false) from pg_settings
  where name ~ '^(statement|lock|transaction|idle_in_transaction_session|idle_session)_timeout$'`;

/** Runs work on a connection of its own, for as long as it takes. Errors: StartError where there is none, or it is lost meanwhile. */
export async function useConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client;
  let lost: Error | undefined;
  try {
    client = new pg.Client({
      connectionString: addSettings(url),
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    client.on('error', (error) => (lost = error));
    await client.connect();
  } catch (error) {
    // one that was tried at several addresses has no message
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError(`DATABASE_URL leads to no database that can be used: ${message || String(code)}.`, { cause: error });
  }
  try {
    await client.query(LIFT);
    return await work(client);
  } catch (error) {
    const fatal = error instanceof pg.DatabaseError && error.severity === 'FATAL' ? error : lost;
    if (!fatal) throw error;
    throw new StartError(`The connection to Postgres was lost (${fatal.message}); try again once it answers.`, { cause: error });
  } finally {
    await client.end();
  }
}
