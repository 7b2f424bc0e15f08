import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { readJson } from '../../src/json.ts';
import { startServer, type RunningServer } from '../../src/server.ts';
import { noteSecretsOf, testLog } from './canaries.ts';
import { makeCast, type Cast, type Person } from './cast.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { recordOperation } from './operations-seen.ts';

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
  server: RunningServer;
  database: TestDatabase;
  cast: Cast;
  /** Calls as a person of the cast, with a key, or anonymously. */
  as(caller: Person | string | null): Call;
  stop(): Promise<void>;
}

/** The real server on a socket, over a clone of the template and a folder of its own. `environment` adds settings. */
export async function startTestServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const database = await cloneDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-server-'));
  const server = await startServer(
    readConfig({
      PORT: '0',
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      ...testLog(),
      SAMPLE_DATA: 'off',
      BROKER_PORT: '0',
      DUCKDB_MEMORY_MB: '1024',
      MACRO_LANGUAGES: 'none',
      ...environment,
    }),
  );
  const cast = await makeCast(server.context.db);
  const as =
    (caller: Person | string | null): Call =>
    async (method, path, { body, headers = {}, query = {} } = {}) => {
      const key = caller === null ? undefined : typeof caller === 'string' ? caller : caller.apiKey;
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
      const form = body instanceof FormData;
      const response = await fetch(`${server.baseUrl}${path}${search === '' ? '' : `?${search}`}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(body === undefined || form || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: form || typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const text = bytes.toString('utf8');
      noteSecretsOf(text);
      const contentType = response.headers.get('content-type') ?? '';
      const isJson = contentType.includes('json') && !contentType.includes('ndjson');
      const parsed: unknown = isJson && text !== '' ? readJson(text) : undefined;
      recordOperation(
        server.context.openapi,
        method,
        path,
        response.status,
        contentType.startsWith('application/json') ? parsed : undefined,
      );
      return { status: response.status, headers: response.headers, body: parsed, text, bytes };
    };
  return {
    server,
    database,
    cast,
    as,
    stop: async () => {
      await server.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
