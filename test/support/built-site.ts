import type { Database } from '../../src/database/database.ts';
import { startSession } from '../../src/auth/sessions.ts';
import { makeCast, type Cast } from './cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from './process.ts';
import type { Call } from './server.ts';

/** The built server as a process of its own, over a database whose cast tests may act as. */
export interface BuiltSite {
  server: ServerProcess;
  db: Database;
  /** Settings of another process of the same service. */
  environment: Record<string, string>;
  cast: Cast;
  /** `Cookie` of a session of the owner. */
  cookie: string;
  /** Calls as the owner, by key. */
  owner: Call;
  stop(): Promise<void>;
}

/** Starts one. `environment` adds settings. */
export async function startBuiltSite(environment: Record<string, string> = {}): Promise<BuiltSite> {
  const site = await sharedSite();
  const settings = { ...site.environment, BROKER: 'off', ...environment };
  const server = await spawnServer(settings);
  const { db } = site.database;
  const cast = await makeCast(db);
  const { token } = await startSession(db, { userId: cast.owner.id, method: 'email', ipAddress: null, userAgent: null });
  const owner: Call = async (method, path, { body, headers = {} } = {}) => {
    const isForm = body instanceof FormData;
    const response = await fetch(server.baseUrl + path, {
      method,
      headers: {
        'x-api-key': cast.owner.apiKey,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString('utf8');
    const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined, text, bytes };
  };
  return {
    server,
    db,
    environment: settings,
    cast,
    cookie: `fieldlake.session_token=${token}`,
    owner,
    stop: async () => {
      await server.kill('SIGTERM');
      await site.remove();
    },
  };
}
