/** The driver's client, set up for measurements: exact numbers, no telemetry, its own retries kept short, cut answers noticed. */
import type { ClientRequest } from 'node:http';
import { rootCertificates } from 'node:tls';
import { DBSQLClient, auth } from '@databricks/sql';
import type { DatabricksSettings } from '../settings.ts';
import { requestToken } from './token.ts';

export interface DatabricksOptions extends DatabricksSettings {
  /** How many statements may run at once. Further ones wait. 8 by default. */
  statements?: number;
  /** How long a session may be idle and still be used; after that it is closed. 10 minutes by default. */
  idleMs?: number;
  /** How long a statement waits for a stopped warehouse to start, unless its own deadline comes first. 5 minutes by default. */
  startMs?: number;
  /** The first pause before a starting warehouse is asked again. It doubles each time, up to 30 s. 1 s by default. */
  startPauseMs?: number;
  /** The folder for Parquet files while they are written. The system's folder by default. */
  temporaryFolder?: string;
}

/** The method with which Node's agents take a request. */
interface Taking {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/**
 * Tells the driver's HTTP library of an answer that ends before its length. The library does not notice, and would wait for the rest until its timeout. It does
 * listen to errors of the request, so one is emitted there.
 */
async function noticeCuts(client: DBSQLClient): Promise<void> {
  const agent = (await (await client.getConnectionProvider()).getAgent()) as unknown as Taking;
  const take = agent.addRequest.bind(agent);
  agent.addRequest = (request, ...rest) => {
    request.once('response', (answer) => {
      answer.once('close', () => {
        if (!answer.complete) request.emit('error', Object.assign(new Error('The answer was cut.'), { code: 'ECONNRESET' }));
      });
    });
    take(request, ...rest);
  };
}

const SILENT = { log: () => undefined };

/** Makes a client; nothing is sent before the first session is opened. */
export async function connect(options: DatabricksOptions): Promise<DBSQLClient> {
  const { host, port = 443, path, credentials, authority } = options;
  const client = new DBSQLClient({ logger: SILENT });
  // an error of the connection is thrown as well where somebody waits for it
  client.on('error', () => undefined);
  const connection = {
    host,
    port,
    path,
    userAgentEntry: 'fieldlake',
    customCaCert: authority,
    // a slow statement causes no silence, because no call waits for one
    socketTimeout: 30_000,
    preserveBigNumericPrecision: true,
    telemetryEnabled: false,
    // the driver retries only calls that are safe to repeat, such as asking for a state; statements are repeated by the warehouse here, or not at all
    retryMaxAttempts: 4,
    retryDelayMin: 250,
    retryDelayMax: 2_000,
    retriesTimeout: 15_000,
  };
  if ('token' in credentials) await client.connect({ ...connection, authType: 'access-token', token: credentials.token });
  else await client.connect({ ...connection, authType: 'token-provider', tokenProvider: providerOf(options, credentials) });
  await noticeCuts(client);
  return client;
}

function providerOf({ host, port = 443, authority }: DatabricksOptions, principal: { clientId: string; clientSecret: string }) {
  const getToken = async () => {
    const { accessToken, expiresAt } = await requestToken({
      host,
      port,
      ...principal,
      authority: authority === undefined ? undefined : [...rootCertificates, authority],
    });
    return new auth.Token(accessToken, { expiresAt });
  };
  return { getToken, getName: () => 'service principal' };
}
