import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { startArguments, startEnvironment } from '../scripts/as-started.ts';
import { makeApiKey } from '../src/auth/proofs/api-keys.ts';
import { hashToken } from '../src/auth/seal.ts';
import { openDatabase } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { decide } from '../src/authorization/access.ts';
import { countExperiments, listExperiments } from '../src/api/experiments/experiments.queries.ts';
import { against, pairs, quantile, type Measured } from './pairs.ts';
import { seedAccess } from './seed-access.ts';

const ROOT = join(import.meta.dirname, '..');
const KEYS = 10_000;

async function started(
  args: readonly string[],
  environment: Record<string, string>,
  pattern: RegExp,
): Promise<{ child: ChildProcess; found: string }> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'ignore'] });
  const found = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text)?.[1];
      if (match !== undefined) resolve(match);
    });
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${text}`)));
  });
  return { child, found };
}

/** Requests a second over a second and a half, with so many connections; `next` names the path and headers of each. */
async function throughput(
  port: number,
  connections: number,
  next: () => { path: string; headers: Record<string, string> },
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + 1_500;
  let count = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request({ agent, port, host: '127.0.0.1', ...next() }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`answered ${String(response.statusCode)}`));
        response.resume();
        response.once('end', resolve);
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        await one();
        count += 1;
      }
    }),
  );
  agent.destroy();
  return (count * 1_000) / (performance.now() - start);
}

async function latencies(times: number, parallel: number, ask: (index: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  let index = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (index < times) {
        const mine = (index += 1);
        const start = performance.now();
        await ask(mine);
        taken.push(performance.now() - start);
      }
    }),
  );
  return taken;
}

/** The access decision and the lists at 200,000 resources and 250,000 grants, and a key-authenticated GET against a bare Express route. */
export async function benchAccess(url: string, dataDir: string): Promise<Measured[]> {
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  const { users, experiments } = await seedAccess(owner);
  const results: Measured[] = [];
  const pick = <T>(list: readonly T[], index: number) => list[(index * 7_919) % list.length]!;
  for (const [parallel, bound] of [
    [1, 1],
    [10, 3],
  ] as const) {
    const db = openDatabase({ url, role: APPLICATION_ROLE, max: parallel });
    const ask = (index: number) => decide(db, pick(users, index), 'experiment', pick(experiments, index * 3), 'contribute');
    await latencies(500, parallel, ask);
    results.push(
      against(`access decision p95, ${parallel} connection(s), ms`, quantile(await latencies(5_000, parallel, ask), 0.95), bound),
    );
    await db.close();
  }
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  for (const [scope, bound] of [
    ['related', 5],
    ['all', 25],
  ] as const) {
    const ask = async (index: number) => {
      const filter = {
        userId: pick(users, index),
        scope,
        status: undefined,
        search: undefined,
        visibility: undefined,
        createdBy: undefined,
      };
      await Promise.all([listExperiments(db, filter, { limit: 100, offset: 0 }), countExperiments(db, filter, 10_001)]);
    };
    await latencies(50, 1, ask);
    results.push(against(`scope=${scope} page of 100 p95, ms`, quantile(await latencies(400, 1, ask), 0.95), bound));
  }
  await db.close();

  const keys = Array.from({ length: KEYS }, () => makeApiKey().key);
  await owner.query(
    `insert into api_keys (id, user_id, name, hash, last_four, rate_limit)
     select gen_random_uuid(), k.user_id, 'bench', k.hash, 'xxxx', 1000000 from unnest($1::uuid[], $2::bytea[]) as k (user_id, hash)`,
    [keys.map((_, index) => users[index % users.length]), keys.map((key) => hashToken(key))],
  );
  const open = randomUUID();
  await owner.query(
    `with r as (insert into resources (id, type, organization_id, visibility, name, created_by)
       select $1, 'experiment', organization_id, 'public', 'Read by everybody', user_id from organization_members limit 1 returning id)
     insert into experiments (id) select id from r`,
    [open],
  );
  await owner.query('analyze');
  const ours = await started(
    startArguments,
    {
      DATABASE_URL: url,
      DATA_DIR: dataDir,
      PORT: '0',
      SAMPLE_DATA: 'off',
      WORKER: 'off',
      MACRO_LANGUAGES: 'none',
      ...startEnvironment,
    },
    /ready at http:\/\/[^:]+:(\d+)/,
  );
  const port = Number(ours.found);
  const document = await (
    await fetch(`http://127.0.0.1:${port}/api/v1/experiments/${open}`, { headers: { 'x-api-key': keys[0]! } })
  ).json();
  await owner.query('create table bench_documents (id uuid primary key, document json not null)');
  await owner.query('insert into bench_documents values ($1, $2)', [open, JSON.stringify(document)]);
  await owner.query('insert into bench_documents select id, $1::json from experiments where id <> $2', [JSON.stringify(document), open]);
  await owner.query('analyze bench_documents');
  let turn = 0;
  const asOurs = () => ({ path: `/api/v1/experiments/${open}`, headers: { 'x-api-key': keys[(turn += 1) % KEYS]! } });
  const asYardstick = () => ({ path: `/experiments/${open}`, headers: { 'x-api-key': keys[(turn += 1) % KEYS]! } });
  await throughput(port, 10, asOurs);
  for (const [name, flag] of [
    ['bare', '--bare'],
    ['dressed', '--dressed'],
  ] as const) {
    const yardstick = await started(['bench/yardsticks/express.ts', url, flag], {}, /port (\d+)/);
    const yardstickPort = Number(yardstick.found);
    await throughput(yardstickPort, 10, asYardstick);
    results.push(
      await pairs(
        `GET one experiment against ${name} Express, requests/s`,
        () => throughput(port, 10, asOurs),
        () => throughput(yardstickPort, 10, asYardstick),
      ),
    );
    yardstick.child.kill('SIGTERM');
  }
  ours.child.kill('SIGTERM');
  await owner.end();
  return results;
}
