// npm run dev: serves what stands in src on the data folder of `npm start`, and starts anew whenever a file is saved.
//
// It differs from `npm run build && npm start` in this: types are not checked; Postgres runs as long as this command, not as long as the server; a
// server that is replaced has half a second to stop and is killed then; the sample is made by the first start only; the console is bundled by the
// first start only, and `npm run dev:web` beside this serves what stands in `web`. Modules are printed, and the server is started, by the same code.
import { spawn, type ChildProcess } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/database/embedded.ts';
import { startArguments, startEnvironment } from './as-started.ts';
import { build, BuildError, generate, updateModules } from './build.ts';

const ROOT = join(import.meta.dirname, '..');
/** What a server reads when it starts. */
const WATCHED = ['src', 'sql', 'pipelines'];
/** A save is some events: the build begins when this long none has come. */
const PAUSE_MS = 30;
/** For a server that is replaced; its ports are free at once. */
const STOP_MS = 500;

const say = (line: string) => process.stdout.write(`dev: ${line}\n`);

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

let server: ChildProcess | undefined;

/** Starts the built server in the place of the one that runs. `since` is when the save was noticed. */
function replaceServer(environment: Readonly<Record<string, string | undefined>>, since: number): void {
  const last = server;
  if (last) {
    last.kill('SIGTERM');
    setTimeout(() => isRunning(last) && last.kill('SIGKILL'), STOP_MS).unref();
  }
  const next = spawn(process.execPath, startArguments, {
    cwd: ROOT,
    env: { ...process.env, ...startEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  next.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    if (chunk.includes('fieldlake is ready at')) say(`ready after ${((performance.now() - since) / 1_000).toFixed(1)} s`);
  });
  next.once('exit', (code) => {
    if (server === next && code !== null) say(`the server ended with ${code}; it is started again when a file is saved`);
  });
  server = next;
}

const began = performance.now();
await build('quick').catch((error: unknown) => {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
const { DATABASE_URL, DATA_DIR = join(ROOT, '.data'), SAMPLE_DATA } = process.env;
const postgres = DATABASE_URL === undefined ? await startEmbeddedPostgres({ dataDir: DATA_DIR }) : undefined;
const environment = { DATABASE_URL: DATABASE_URL ?? postgres?.url, DATA_DIR };
replaceServer({ ...environment, SAMPLE_DATA: SAMPLE_DATA ?? (postgres ? 'on' : 'off') }, began);

/** What a saved file changes: the server at once; and once more if it says something else of a route. */
async function update(since: number): Promise<void> {
  try {
    await updateModules();
    replaceServer({ ...environment, SAMPLE_DATA: 'off' }, since);
    if (!(await generate('quick'))) return;
    await updateModules();
    replaceServer({ ...environment, SAMPLE_DATA: 'off' }, since);
  } catch (error) {
    // also a file that was gone again when it was read, as editors leave some
    say(`${(error as Error).message || 'that did not build'}; the server runs as it was`);
  }
}

let timer: NodeJS.Timeout | undefined;
let updating = Promise.resolve();
for (const folder of WATCHED)
  watch(join(ROOT, folder), { recursive: true }, (_event, name) => {
    // what a build writes itself
    if (name === null || /^generated\b|~$|\.\d+$/.test(name)) return;
    const since = performance.now();
    clearTimeout(timer);
    timer = setTimeout(() => {
      updating = updating.then(() => update(since));
    }, PAUSE_MS);
  });

let isLeaving = false;
/** Stops the server, then its Postgres. Ctrl-C reaches the server by itself too. */
async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  const last = server;
  server = undefined;
  if (last && isRunning(last)) {
    const gone = new Promise((resolve) => last.once('exit', resolve));
    last.kill('SIGTERM');
    await gone;
  }
  await postgres?.stop();
  process.exit(0);
}
process.on('SIGINT', () => void leave());
process.on('SIGTERM', () => void leave());
