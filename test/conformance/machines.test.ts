/** No machine matters: two that serve and two that work over one Postgres and one bucket; each is killed and replaced by one with an empty disk while devices send. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { findFreePort } from '../support/free-port.ts';
import { startMoto } from '../support/moto.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { runSimulator } from '../support/simulator.ts';

/** 1 is 200 devices for ten minutes. */
const SCALE = Number(process.env['SOAK'] ?? 0.1);
const DEVICES = Math.max(10, Math.round(200 * SCALE));
const SECONDS = Math.max(60, 600 * SCALE);
const CACHE_MB = 64;
const BUCKET = 'machines';
const REGION = 'eu-central-1';
/** Pairs of reads in one weighing of two machines. */
const PAIRS = 40;

const machines = { first: 'server', second: 'server', third: 'worker', fourth: 'worker' } as const;
type Machine = keyof typeof machines;
/** In this order, at these parts of the time; the first has the broker. */
const DEATHS: readonly [number, Machine][] = [
  [0.15, 'third'],
  [0.3, 'first'],
  [0.45, 'fourth'],
  [0.6, 'second'],
];

let database: TestDatabase;
let owner: Person;
let experimentId: string;
let settings: Record<string, string>;
let own: Record<Machine, { PORT?: string; BROKER_PORT?: string; BROKER?: string }>;
let stop: () => Promise<unknown>;
const up = new Map<Machine, ServerProcess>();
const disks = new Map<Machine, string>();

/** Starts a machine on an empty disk, in the place of the one before. */
async function place(machine: Machine): Promise<void> {
  const disk = mkdtempSync(join(tmpdir(), `fieldlake-${machine}-`));
  disks.set(machine, disk);
  const role = machines[machine] === 'worker' ? (['worker'] as const) : [];
  up.set(machine, await spawnServer({ ...settings, ...own[machine], DATA_DIR: disk }, ...role));
}

async function lose(machine: Machine): Promise<void> {
  await up.get(machine)!.kill('SIGKILL');
  rmSync(disks.get(machine)!, { recursive: true, force: true });
}

beforeAll(async () => {
  const moto = await startMoto();
  stop = moto.stop;
  const credentials = { accessKeyId: 'testing', secretAccessKey: 'testing' };
  const s3 = new S3Client({ region: REGION, endpoint: moto.endpoint, credentials, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));
  s3.destroy();
  database = await cloneDatabase();
  owner = await makePerson(database.db, 'owner');
  const port = String(await findFreePort());
  settings = {
    DATABASE_URL: database.url,
    SECRET: randomBytes(32).toString('hex'),
    BASE_URL: `http://127.0.0.1:${port}`,
    S3_BUCKET: BUCKET,
    S3_REGION: REGION,
    S3_ENDPOINT: moto.endpoint,
    S3_ACCESS_KEY_ID: 'testing',
    S3_SECRET_ACCESS_KEY: 'testing',
    LAKE_CACHE_MB: String(CACHE_MB),
    WORKER: 'off',
  };
  own = {
    first: { PORT: port, BROKER_PORT: String(await findFreePort()) },
    second: { PORT: String(await findFreePort()), BROKER: 'off' },
    third: {},
    fourth: {},
  };
  for (const machine of Object.keys(machines) as Machine[]) await place(machine);
  const made = await fetch(`${up.get('first')!.baseUrl}/api/v1/experiments`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `Machines ${randomUUID()}` }),
  });
  experimentId = ((await made.json()) as { id: string }).id;
});
afterAll(async () => {
  for (const [machine, process] of up) {
    await process.kill('SIGTERM');
    rmSync(disks.get(machine)!, { recursive: true, force: true });
  }
  await database?.drop();
  await stop?.();
});

/** Bytes of the copies that a machine has of the bucket's files. */
const cachedBytes = (machine: Machine): number =>
  readdirSync(join(disks.get(machine)!, 'cache'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0), 0);

const HOURLY = JSON.stringify({
  groupBy: [{ column: 'timestamp', timeBucket: 'minute' }],
  functions: [{ column: 'id', function: 'count', alias: 'rows' }],
});

async function ask(machine: Machine, query: Record<string, string>): Promise<{ status: number; text: string; version: string | null }> {
  // its own port: what it says of itself is BASE_URL, which is the first's
  const url = `http://127.0.0.1:${own[machine].PORT ?? ''}/api/v1/experiments/${experimentId}/data?${new URLSearchParams({ tableName: 'raw_data', ...query }).toString()}`;
  const answer = await fetch(url, { headers: { 'x-api-key': owner.apiKey }, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, text: await answer.text(), version: answer.headers.get('x-table-version') };
}

/** Asks both the same of the newest version that the first of them names; both must answer the same, byte for byte. */
async function compare(query: Record<string, string>): Promise<string> {
  const { version, status, text } = await ask('first', { pageSize: '1' });
  expect(status, text).toBe(200);
  const [one, other] = await Promise.all([ask('first', { ...query, asOf: version! }), ask('second', { ...query, asOf: version! })]);
  expect([one.status, other.status], one.text.slice(0, 300)).toEqual([200, 200]);
  expect(other.text).toBe(one.text);
  return one.text;
}

const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** How much longer the second takes than the first, at the median of reads that take turns; each of a version that no answer is kept of. */
async function weighSecond(): Promise<number> {
  const times: Record<'first' | 'second', number[]> = { first: [], second: [] };
  for (let pair = 0; pair < PAIRS; pair += 1)
    for (const machine of ['first', 'second'] as const) {
      const began = performance.now();
      const page = String(pair + 1);
      expect((await ask(machine, { pageSize: '50', page, orderBy: 'timestamp', orderDirection: 'DESC' })).status).toBe(200);
      times[machine].push(performance.now() - began);
    }
  return middle(times.second) / middle(times.first);
}

test(
  `${DEVICES} devices send for ${SECONDS} s while each of four machines is lost and replaced by an empty one: nothing lost or doubled, and the same answers`,
  { timeout: SECONDS * 1_000 + 600_000 },
  async () => {
    const began = Date.now();
    const load = ['--count', String(DEVICES), '--rate', '1', '--minutes', String(SECONDS / 60), '--drop-every', '120'];
    const simulated = runSimulator(
      { dataDir: disks.get('first')!, baseUrl: up.get('first')!.baseUrl, apiKey: owner.apiKey, experimentId },
      ...load,
    );
    let compared = 0;
    for (const [part, machine] of DEATHS) {
      while (Date.now() < began + part * SECONDS * 1_000) {
        await compare({ aggregation: HOURLY });
        compared += 1;
        await sleep(1_000);
      }
      await lose(machine);
      await place(machine);
    }
    // for a minute after the second came back, over a cache that was empty
    const replaced = Date.now();
    while (Date.now() < Math.min(replaced + 60_000, began + SECONDS * 950)) {
      await compare({ aggregation: HOURLY });
      compared += 1;
      await sleep(1_000);
    }
    const { code, report, said } = await simulated;
    // when all is quiet: the first has a broker, and its table is watched by the simulator
    const slower = await weighSecond();
    const cached = (['first', 'second'] as const).map(cachedBytes);
    process.stdout.write(
      `${JSON.stringify({ ...report, missing: report?.missing.length, repeated: report?.repeated.length, compared, slower, cached })}\n`,
    );
    expect(code, said).toBe(0);
    expect(report).toMatchObject({ devices: DEVICES, missing: [], repeated: [] });
    expect(report!.inTable).toBe(report!.expected);
    expect(report!.acknowledged).toBe(report!.published);
    expect(compared).toBeGreaterThan(3);
    expect(JSON.parse(await compare({ aggregation: HOURLY }))).not.toEqual([]);
    await compare({ format: 'csv', columns: 'id,timestamp,device_id' });
    for (const bytes of cached) {
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(CACHE_MB * 1_048_576);
    }
    if (SCALE >= 1) expect(slower).toBeLessThan(1.3);
  },
);
