import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startArguments, startEnvironment } from '../scripts/as-started.ts';
import { makeApiKey } from '../src/auth/proofs/api-keys.ts';
import { hashToken } from '../src/auth/seal.ts';
import type { MacroLanguage } from '../src/sandbox/job.ts';
import { openSandbox } from '../src/sandbox/sandbox.ts';
import { startBare, type Bare } from './bare.ts';
import { against, quantile, type Measured } from './pairs.ts';

const ROOT = join(import.meta.dirname, '..');
const PAIRS = Number(process.env['PAIRS'] ?? 21);
/** Which of the rounds is told: the median, or an earlier one on a machine that others use. */
const QUANTILE = Number(process.env['QUANTILE'] ?? 0.5);
const ITEMS = 1_000;

const LEVELS = {
  embedded: ['python', 'javascript'],
  bubblewrap: ['python', 'r', 'javascript'],
} as const satisfies Record<string, readonly MacroLanguage[]>;
type Level = keyof typeof LEVELS;

/** `rounds` sets how long it takes; the answer holds a number a point of the trace. */
const TRACE: Record<MacroLanguage, string> = {
  python: `total = 0.0
for turn in range(json['rounds']):
    for value in json['trace']:
        total += (value - 300) * 0.001
return {'total': total, 'norm': [value / 1500 for value in json['trace']]}`,
  javascript: `let total = 0;
for (let turn = 0; turn < json.rounds; turn += 1) for (const value of json.trace) total += (value - 300) * 0.001;
return { total, norm: json.trace.map((value) => value / 1500) };`,
  r: `trace <- unlist(json$trace)
total <- 0
for (turn in seq_len(json$rounds)) total <- total + sum((sort(trace) - 300) * 0.001)
list(total = total, norm = trace / 1500)`,
};

/** What the interpreter's libraries do. */
const LIBRARY: Partial<Record<MacroLanguage, string>> = {
  python: `frame = pd.DataFrame({'plot': np.arange(len(json['trace'])) % 4, 'value': json['trace']})
fit = scipy.stats.linregress(frame['plot'], frame['value'])
return {'slope': float(fit.slope), 'p95': float(np.percentile(frame['value'], 95)), 'means': frame.groupby('plot')['value'].mean().to_dict()}`,
  r: `d <- data.frame(y = unlist(json$trace), x = seq_along(json$trace))
f <- lm(y ~ x, d)
list(slope = unname(coef(f)[2]), r2 = summary(f)$r.squared)`,
};

const itemOf = (rounds: number, turn = 0) => ({ rounds, trace: Array.from({ length: 40 }, (_, at) => 300 + ((at * 37 + turn) % 1200)) });

/** The number of rounds at which one item costs `ms` bare. */
async function calibrate(bare: Bare, code: string, ms: number): Promise<number> {
  await bare.load(code);
  const cost = async (rounds: number) => {
    const times: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) times.push((await bare.run(Array.from({ length: 20 }, () => itemOf(rounds)))) / 20);
    return Math.min(...times);
  };
  let rounds = 8;
  while ((await cost(rounds)) < ms / 2) rounds *= 2;
  return Math.max(1, Math.ceil((rounds * ms) / (await cost(rounds))));
}

interface Server {
  child: ChildProcess;
  post(path: string, body: object): Promise<{ ms: number; body: unknown }>;
  stop(): Promise<void>;
}

async function startServer(environment: Record<string, string>, key: string): Promise<Server> {
  const child = spawn(process.execPath, startArguments, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', BROKER_PORT: '0', SAMPLE_DATA: 'off', WORKER: 'off', ...startEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = /ready at http:\/\/[^:]+:(\d+)/.exec(text)?.[1];
      if (match !== undefined) resolve(Number(match));
    });
    child.once('exit', () => reject(new Error(`the server ended: ${text}`)));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const post: Server['post'] = (path, body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const start = performance.now();
      const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const outgoing = request({ agent, port, host: '127.0.0.1', method: 'POST', path: `/api/v1/${path}`, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => {
          const ms = performance.now() - start;
          const answer = Buffer.concat(chunks).toString();
          if ((response.statusCode ?? 500) >= 300)
            reject(new Error(`${path} answered ${String(response.statusCode)}: ${answer.slice(0, 300)}`));
          else resolve({ ms, body: JSON.parse(answer) });
        });
      });
      outgoing.once('error', reject);
      outgoing.end(text);
    });
  return {
    child,
    post,
    stop: () =>
      new Promise((resolve) => {
        agent.destroy();
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

async function seedCaller(url: string): Promise<{ key: string; organizationId: string }> {
  const { key } = makeApiKey();
  const [userId, organizationId] = [randomUUID(), randomUUID()];
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    await owner.query(`insert into users (id, email, name, email_verified) values ($1::uuid, $1::text || '@example.org', 'Bench', true)`, [
      userId,
    ]);
    await owner.query(`insert into profiles (user_id, first_name, last_name) values ($1, 'Bench', 'Macro')`, [userId]);
    await owner.query(`insert into organizations (id, name, slug) values ($1::uuid, 'Lab', 'lab-' || $1::text)`, [organizationId]);
    await owner.query(`insert into organization_members (id, organization_id, user_id, role) values (gen_random_uuid(), $1, $2, 'owner')`, [
      organizationId,
      userId,
    ]);
    await owner.query(
      `insert into api_keys (id, user_id, name, hash, last_four, rate_limit) values (gen_random_uuid(), $1, 'bench', $2, 'xxxx', 1000000)`,
      [userId, hashToken(key)],
    );
  } finally {
    await owner.end();
  }
  return { key, organizationId };
}

const typical = (values: readonly number[]) => quantile(values, QUANTILE);

/** From no process at all to the first result, the sandbox being open. */
async function coldStart(language: MacroLanguage, level: Level, dataDir: string): Promise<number> {
  const sandbox = await openSandbox({
    runtimesFolder: join(ROOT, 'src', 'sandbox', 'runtimes'),
    keepIn: join(dataDir, 'macros'),
    languages: [language],
    level,
    acceptRoot: true,
    warm: 0,
  });
  const times: number[] = [];
  try {
    for (let turn = 0; turn < 7; turn += 1) {
      const start = performance.now();
      const { results } = await sandbox.run({
        language,
        code: TRACE[language],
        // another version each turn, so that no process serves two of them
        version: `cold ${turn}`,
        caller: 'bench',
        items: [{ id: '1', data: itemOf(1) }],
        timeoutMs: 20_000,
        itemTimeoutMs: 5_000,
      });
      times.push(performance.now() - start);
      if (results[0]?.success !== true) throw new Error(JSON.stringify(results));
    }
  } finally {
    await sandbox.close();
  }
  return typical(times);
}

const COLD_MS: Record<MacroLanguage, number> = { javascript: 150, python: 2_500, r: 3_000 };

interface Ran {
  success: boolean;
  error: string | null;
}
const sound = (results: readonly Ran[], wanted: number) => {
  const failed = results.find(({ success }) => !success);
  if (results.length !== wanted || failed) throw new Error(`${results.length} results: ${failed?.error ?? ''}`);
};

/** One run over HTTP, against 1.5 times the bare interpreter and 10 ms more. */
async function single(name: string, ours: () => Promise<number>, bare: () => Promise<number>): Promise<Measured> {
  for (let turn = 0; turn < 5; turn += 1) {
    await ours();
    await bare();
  }
  const rounds: { ours: number; bare: number }[] = [];
  for (let turn = 0; turn < PAIRS; turn += 1) rounds.push({ ours: await ours(), bare: await bare() });
  const taken = typical(rounds.map((round) => round.ours));
  const bound = 1.5 * typical(rounds.map((round) => round.bare)) + 10;
  return against(`${name} against 1.5 x bare + 10 ms, ms`, taken, bound);
}

async function benchLevel(level: Level, url: string, dataDir: string, note: (line: Measured) => void): Promise<void> {
  const { key, organizationId } = await seedCaller(url);
  const server = await startServer(
    { DATABASE_URL: url, DATA_DIR: dataDir, MACRO_LANGUAGES: LEVELS[level].join(','), MACRO_LEVEL: level, MACRO_ACCEPT_ROOT: 'on' },
    key,
  );
  const create = async (language: MacroLanguage, code: string) =>
    ((await server.post('macros', { name: 'Bench', language, code, organizationId })).body as { id: string }).id;
  try {
    for (const language of LEVELS[level]) {
      const bare = await startBare(language, level);
      const title = `${language} (${level})`;
      try {
        const run = async (id: string, data: object) => {
          const { ms, body } = await server.post(`macros/${id}/execute`, { data, itemTimeout: 10 });
          sound([body as Ran], 1);
          return ms;
        };
        const texts = [['trace', TRACE[language]], ...(level === 'bubblewrap' ? [['library', LIBRARY[language]]] : [])] as const;
        for (const [what, code] of texts) {
          if (code === undefined) continue;
          for (const cost of what === 'trace' ? [0, 20] : [0]) {
            const rounds = cost === 0 ? 1 : await calibrate(bare, code, cost);
            const id = await create(language, code);
            await bare.load(code);
            const data = itemOf(rounds);
            const label = `macros: ${title}, ${what}${cost === 0 ? '' : ` of ${cost} ms`}`;
            note(
              await single(
                `${label}: warm run`,
                () => run(id, data),
                () => bare.run([data]),
              ),
            );
            const firsts: string[] = [];
            for (let turn = 0; turn < PAIRS + 5; turn += 1) firsts.push(await create(language, code));
            const first = async () => {
              await pause(1_500);
              return run(firsts.pop() ?? '', data);
            };
            if (cost === 0) note(await single(`${label}: first run of a macro`, first, () => bare.run([data])));
          }
        }
        const rounds = await calibrate(bare, TRACE[language], 1.1);
        const id = await create(language, TRACE[language]);
        await bare.load(TRACE[language]);
        const inputs = Array.from({ length: ITEMS }, (_, turn) => itemOf(rounds, turn));
        const items = inputs.map((data, turn) => ({ id: String(turn), macro_id: id, data }));
        const taken: { ours: number; bare: number }[] = [];
        for (let turn = 0; turn < 1 + Math.min(7, PAIRS); turn += 1) {
          const { ms, body } = await server.post('macros/execute-batch', { items, itemTimeout: 10, timeout: 60 });
          sound((body as { results: Ran[] }).results, ITEMS);
          taken.push({ ours: ms, bare: await bare.run(inputs) });
        }
        const rest = taken.slice(1);
        const perItem = typical(rest.map((round) => round.bare)) / ITEMS;
        note({
          name: `macros: ${title}: ${ITEMS} items of ${perItem.toFixed(2)} ms bare, items/s (bound 0.5 of the bare loop)`,
          ours: (ITEMS * 1000) / typical(rest.map((round) => round.ours)),
          yardstick: 1000 / perItem,
          ratio: typical(rest.map((round) => round.bare)) / typical(rest.map((round) => round.ours)),
        });
      } finally {
        bare.stop();
      }
    }
  } finally {
    await server.stop();
  }
  for (const language of LEVELS[level])
    note(
      against(
        `macros: ${language} (${level}): cold start to first result, ms`,
        await coldStart(language, level, dataDir),
        COLD_MS[language],
      ),
    );
}

/** Macros over HTTP and in batches against a bare interpreter, and cold starts, at every level that this machine has. */
export async function benchMacros(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  for (const level of ['bubblewrap', 'embedded'] as const) {
    if (level === 'bubblewrap' && !existsSync('/usr/bin/bwrap')) continue;
    if (process.env['LEVEL'] !== undefined && process.env['LEVEL'] !== level) continue;
    await benchLevel(level, url, dataDir, onMeasured);
  }
}
