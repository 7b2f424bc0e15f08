import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { addSettings } from './settings.ts';

const AGAIN_MS = 250;
const SILENT_MS = 5_000;

export interface Standing {
  /** The current connection; undefined while there is none. */
  client: () => pg.Client | undefined;
  stop: () => Promise<void>;
}

/**
 * Keeps a connection beside the pool, for things that a session holds. It makes another one whenever that is lost, and runs `begin` on each. The first must
 * succeed.
 */
export async function keepConnected(url: string, begin: (client: pg.Client) => Promise<unknown>): Promise<Standing> {
  const leaving = new AbortController();
  let standing: pg.Client | undefined;
  const connect = async (): Promise<void> => {
    const limits = { connectionTimeoutMillis: SILENT_MS, query_timeout: SILENT_MS };
    const client = new pg.Client({ ...limits, connectionString: addSettings(url), keepAlive: true });
    client.on('error', () => undefined);
    try {
      await client.connect();
      standing = client;
      await begin(client);
    } catch (error) {
      standing = undefined;
      await client.end().catch(() => undefined);
      throw error;
    }
    client.once('end', () => {
      standing = undefined;
      if (!leaving.signal.aborted) connecting = again();
    });
  };
  const again = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      await sleep(AGAIN_MS);
      const isBack = await connect().then(
        () => true,
        () => false,
      );
      if (isBack) return;
    }
  };
  let connecting = connect();
  await connecting;
  return {
    client: () => standing,
    stop: async () => {
      leaving.abort();
      await connecting;
      await standing?.end();
    },
  };
}
