import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startArguments, startEnvironment } from '../../scripts/as-started.ts';
import { testLog } from './canaries.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Where Node keeps what its `fetch` sends through. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.2');

/** Ends the idle connections of this process: a server that stops gives kept ones a second to be left. What is under way goes on. */
function leaveConnections(): void {
  const held = globalThis as unknown as Record<symbol, { close(): Promise<void>; constructor: new () => never } | undefined>;
  const before = held[DISPATCHER];
  if (before === undefined) return;
  held[DISPATCHER] = new before.constructor();
  void before.close();
}

export interface ServerProcess {
  baseUrl: string;
  /** Where operators ask: metrics and readiness. */
  adminUrl: string;
  child: ChildProcess;
  /** Everything written so far: both streams, and the log. */
  output: () => string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Starts the built server, or a worker beside one, as a process of its own and waits until it is ready. */
export async function spawnServer(environment: Record<string, string>, ...role: readonly 'worker'[]): Promise<ServerProcess> {
  const settings: Record<string, string> = { ...testLog(), ...environment };
  const child = spawn(process.execPath, [...startArguments, ...role], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...startEnvironment,
      PORT: '0',
      BROKER_PORT: '0',
      SAMPLE_DATA: 'off',
      MACRO_LANGUAGES: 'none',
      DUCKDB_MEMORY_MB: '512',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ready = new Promise<{ baseUrl: string; adminUrl: string }>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      text += chunk.toString();
      const [, baseUrl, adminUrl] = /(?:fieldlake is ready at|A worker of) (\S+) .*operators: (\S+)\/health\/ready\)/.exec(text) ?? [];
      if (baseUrl !== undefined && adminUrl !== undefined) resolve({ baseUrl, adminUrl });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the server ended with ${String(code)}: ${text.slice(-2_000)}`)));
  });
  return {
    ...(await ready),
    child,
    output: () => text + (existsSync(settings['LOG_FILE']!) ? readFileSync(settings['LOG_FILE']!, 'utf8') : ''),
    kill: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      if (signal === 'SIGTERM') leaveConnections();
      child.kill(signal);
      await gone;
    },
  };
}

/** Starts the built server without waiting for it; `ended` answers its code and what it said by then. */
export function beginServer(
  environment: Record<string, string>,
  ...words: readonly string[]
): {
  child: ChildProcess;
  ended: Promise<{ code: number | null; text: string }>;
} {
  const child = spawn(process.execPath, [...startArguments, ...words], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...startEnvironment, PORT: '0', BROKER_PORT: '0', ...environment },
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, ended: once(child, 'exit').then(([code]) => ({ code: code as number | null, text })) };
}

/** Runs the server until it ends by itself; answers its code and what it said. */
export const failing = (environment: Record<string, string>) => beginServer(environment).ended;

/** A database and a folder that several server processes can share. */
export async function sharedSite(): Promise<{
  database: TestDatabase;
  folder: string;
  environment: Record<string, string>;
  remove(): Promise<void>;
}> {
  const database = await cloneDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-shared-'));
  return {
    database,
    folder,
    environment: { DATABASE_URL: database.url, DATA_DIR: folder },
    remove: async () => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
