/** The driver's client, set up for measurements: exact numbers, no telemetry, its own retries kept short, cut answers noticed. */
import type { ClientRequest } from 'node:http';
import { rootCertificates } from 'node:tls';
import { DBSQLClient, auth } from '@databricks/sql';
import type { DatabricksCredentials } from '../settings.ts';
import { requestToken } from './token.ts';

export interface DatabricksOptions {
  /** Of the workspace, without a scheme. */
  host: string;
  port?: number;
  /** HTTP path of the SQL warehouse, such as `/sql/1.0/warehouses/abc`. */
  path: string;
  /** Unity Catalog catalog of names without one. */
  catalog?: string;
  /** Under which the server finds the lake, without a slash at its end. */
  lakeUrl: string;
  credentials: DatabricksCredentials;
  /** PEM of an authority that is trusted besides those of Node. */
  authority?: string;
  /** Statements at once; further ones wait. 8 by default. */
  statements?: number;
  /** How long a session may lie unused before it is closed rather than used. 10 minutes by default. */
  idleMs?: number;
  /** How long a statement waits for a stopped warehouse to start, when its own deadline does not come first. 5 minutes by default. */
  startMs?: number;
  /** First pause before a starting warehouse is asked again; doubled each time, up to 30 s. 1 s by default. */
  startPauseMs?: number;
  /** What the server itself ends a statement after. An hour by default. */
  longestStatementSeconds?: number;
  /** Where Parquet files lie while they are written. The system's folder by default. */
  temporaryFolder?: string;
  /** How long a connection may be silent; no call waits for a statement. 30 s by default. */
  socketTimeoutMs?: number;
}

/** How Node's agents take a request in. */
interface Taking {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/**
 * The driver's HTTP library does not notice an answer that ends before its length, and waits for the rest until its timeout. The request's
 * own error is what it listens to, so that is where it is told.
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
  const { host, port = 443, path, credentials, authority, socketTimeoutMs = 30_000 } = options;
  const client = new DBSQLClient({ logger: SILENT });
  // an error of the connection is also thrown where it is waited for
  client.on('error', () => undefined);
  const connection = {
    host,
    port,
    path,
    userAgentEntry: 'fieldlake',
    customCaCert: authority,
    socketTimeout: socketTimeoutMs,
    preserveBigNumericPrecision: true,
    telemetryEnabled: false,
    // of calls that are safe to repeat, such as asking for a state; statements are repeated here, or not at all
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
