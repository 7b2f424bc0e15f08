import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import type { Database } from '../../src/database/database.ts';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { readJson } from '../../src/json.ts';
import { noteSecretsOf, testLog } from './canaries.ts';
import { makeCast, type Cast, type Person } from './cast.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { recordExchange } from './operations-seen.ts';
import { spawnServer, type ServerProcess } from './process.ts';

interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  query?: Record<string, string | number>;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed when the answer is JSON, else undefined. */
  body: any;
  text: string;
  /** The body as it came. */
  bytes: Buffer;
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export interface TestServer {
  /** The built server, a process of its own, started as `npm start` does. */
  server: ServerProcess;
  database: TestDatabase;
  /** The server's database, over connections of the test's own, as the application role. */
  db: Database;
  /** The server's folder. */
  dataDir: string;
  lakeFolder: string;
  /** The published document, as the server answers it. */
  openapi: OpenApiDocument;
  cast: Cast;
  /** Calls as a person of the cast, with a key, or anonymously. */
  as: (caller: Person | string | null) => Call;
  /**
   * What the product is handed, over the same database and folder, as a second process without a worker has it: for functions that a test calls
   * itself. Opened by the first call, closed with the server; nothing in it is the server's own.
   */
  context(): Promise<Context>;
  stop(): Promise<void>;
}

const document = readJson(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;

/** The body of an answer; of one without an end what comes first. */
async function bytesOf(response: Response): Promise<Buffer> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return Buffer.from(await response.arrayBuffer());
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return Buffer.from(value ?? []);
}

/** Calls a server at an address; each answer is held against the published document. */
export const callsTo =
  (baseUrl: string): TestServer['as'] =>
  (caller) =>
  async (method, path, { body, headers = {}, query = {} } = {}) => {
    const key = caller === null ? undefined : typeof caller === 'string' ? caller : caller.apiKey;
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    const form = body instanceof FormData;
    const response = await fetch(`${baseUrl}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === undefined ? {} : { 'x-api-key': key }),
        ...(body === undefined || form || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: form || typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const bytes = await bytesOf(response);
    const text = bytes.toString('utf8');
    noteSecretsOf(text);
    const contentType = response.headers.get('content-type') ?? '';
    const isJson = contentType.includes('json') && !contentType.includes('ndjson');
    const parsed: unknown = isJson && text !== '' ? readJson(text) : undefined;
    const sentTo = `${path}${search === '' ? '' : `?${search}`}`;
    await recordExchange({ method, path: sentTo, sent: body, status: response.status, contentType, text });
    return { status: response.status, headers: response.headers, body: parsed, text, bytes };
  };

/** The built server, over a clone of the template and a folder of its own. `environment` adds settings. */
export async function startTestServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const database = await cloneDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-server-'));
  const settings = { DATA_DIR: dataDir, DATABASE_URL: database.url, DUCKDB_MEMORY_MB: '1024', ...environment };
  const clean = async () => {
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const [server, cast] = await Promise.all([spawnServer(settings), makeCast(database.db)]).catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  let opening: Promise<Context> | undefined;
  const open = async () => {
    // the whole product is read for it: what only asks over HTTP starts 2 s earlier without it
    const { createContext } = await import('../../src/compose.ts');
    const own = { SAMPLE_DATA: 'off', MACRO_LANGUAGES: 'none', BASE_URL: server.baseUrl };
    return createContext(readConfig({ ...own, ...settings, ...testLog(), WORKER: 'off' }));
  };
  return {
    server,
    database,
    db: database.db,
    dataDir,
    lakeFolder: join(dataDir, 'lake'),
    openapi: document,
    cast,
    as: callsTo(server.baseUrl),
    context: () => (opening ??= open()),
    stop: async () => {
      // whatever was asked of it, it must still be there to be stopped
      const ended = server.child.exitCode ?? server.child.signalCode;
      await Promise.all([server.kill('SIGTERM'), opening?.then((context) => context.close())]);
      await clean();
      const code = ended ?? server.child.exitCode;
      if (ended !== null || code !== 0)
        throw new Error(
          `the server ended with ${String(code)}${ended === null ? '' : ' before it was stopped'}: ${server.output().slice(-2_000)}`,
        );
    },
  };
}
