import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';

// one is the full size
const SCALE = Number(process.env['SOAK'] ?? 0.1);
const EACH = 5;
const PEOPLE = Math.round(200 * SCALE);
const EXPERIMENTS = 5;
const ROUNDS = 30;

let site: BuiltSite;
const people: Person[] = [];
const experiments: string[] = [];
beforeAll(async () => {
  site = await startBuiltSite();
  for (let count = 0; count < EXPERIMENTS; count += 1) {
    const { body } = await site.owner('POST', '/api/v1/experiments', { body: { name: 'Listened to', organizationId: site.cast.leafLab } });
    experiments.push(String(body.id));
  }
  for (let count = 0; count < PEOPLE; count += 1) {
    const person = await makePerson(site.db, `listener${count}`);
    for (const id of experiments) await grant(site.db, { id, type: 'experiment' }, { user: person.id }, 'viewer');
    people.push(person);
  }
}, 300_000);
afterAll(() => site.stop());

interface Stream {
  person: Person;
  experimentId: string;
  versions: number[];
  isOver: boolean;
  response: IncomingMessage;
}

/** Opens a stream, and notes the versions that it tells. */
const begin = (agent: Agent, person: Person, experimentId: string): Promise<Stream> =>
  new Promise((resolve, reject) => {
    const url = `${site.server.baseUrl}/api/v1/experiments/${experimentId}/changes`;
    get(url, { agent, headers: { 'x-api-key': person.apiKey } }, (response) => {
      const stream: Stream = { person, experimentId, versions: [], isOver: false, response };
      let rest = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const events = (rest + chunk).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          const [, version] = /^event: table\n[^]*"version": (\d+)/.exec(event) ?? [];
          if (version !== undefined) stream.versions.push(Number(version));
          if (event.includes('event: reset')) resolve(stream);
        }
      });
      response.on('error', () => undefined).once('close', () => (stream.isOver = true));
      if (response.statusCode !== 200) reject(new Error(`refused: ${String(response.statusCode)}`));
    }).once('error', reject);
  });

/** Writes a change of each experiment. */
const change = (version: number, audience = 'read') =>
  site.db.run(sql('test')`
    insert into changes (experiment_id, kind, audience, data)
    select id, 'table', ${audience}, jsonb_build_object('identifier', 'raw_data', 'version', ${version}::integer, 'totalRows', 1) from unnest(${experiments}::uuid[]) id`);

const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${site.server.child.pid}/status`, 'utf8'))?.[1]) / 1_024;
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const metric = async (name: string) =>
  Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(await (await fetch(`${site.server.adminUrl}/metrics`)).text())?.[1]);

test(`${PEOPLE * EACH} listeners are told in time, in bounded memory, and nothing that they may not know`, async () => {
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  // other work on the machine delays the loop too
  const idle: number[] = [];
  for (let second = 0; second < 10; second += 1) {
    await sleep(1_000);
    idle.push(await metric('nodejs_eventloop_lag_p99_seconds'));
  }
  const before = residentMb();
  const cpuBefore = await metric('process_cpu_seconds_total');
  const streams: Stream[] = [];
  for (const person of people)
    streams.push(...(await Promise.all(Array.from({ length: EACH }, (_, at) => begin(agent, person, experiments[at % EXPERIMENTS]!)))));
  expect(await metric('change_listeners')).toBe(PEOPLE * EACH);
  const opened = residentMb();
  await metric('nodejs_eventloop_lag_p99_seconds');
  const quietFrom = performance.now();
  const quietCpu = await metric('process_cpu_seconds_total');
  await sleep(10_000);
  const quiet = ((await metric('process_cpu_seconds_total')) - quietCpu) / ((performance.now() - quietFrom) / 1_000);

  const waits: number[] = [];
  const lags: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const start = performance.now();
    await change(round);
    while (streams.some(({ versions }) => versions.at(-1) !== round)) {
      if (performance.now() - start > 20_000) throw new Error('not everybody was told');
      await sleep(5);
    }
    waits.push(performance.now() - start);
    lags.push(await metric('nodejs_eventloop_lag_p99_seconds'));
  }
  const expected = Array.from({ length: ROUNDS }, (_, round) => round + 1);
  expect(streams.filter(({ versions }) => JSON.stringify(versions) !== JSON.stringify(expected))).toEqual([]);
  const told = residentMb();

  // every second person is not to hear what comes next
  const lost = new Set(people.filter((_, at) => at % 2 === 0).map(({ id }) => id));
  await site.db.run(sql('test')`delete from grants where user_id = any (${[...lost]}::uuid[])`);
  await change(ROUNDS + 1);
  const kept = streams.filter(({ person }) => !lost.has(person.id));
  const cut = streams.filter(({ person }) => lost.has(person.id));
  await expect.poll(() => kept.every(({ versions }) => versions.at(-1) === ROUNDS + 1)).toBe(true);
  await expect.poll(() => cut.every(({ isOver }) => isOver)).toBe(true);
  expect(cut.filter(({ versions }) => versions.includes(ROUNDS + 1))).toEqual([]);
  expect(kept.filter(({ isOver }) => isOver)).toEqual([]);
  // what only managers are told
  await change(ROUNDS + 2, 'manage');
  await change(ROUNDS + 3);
  await expect.poll(() => kept.every(({ versions }) => versions.at(-1) === ROUNDS + 3)).toBe(true);
  expect(kept.filter(({ versions }) => versions.includes(ROUNDS + 2))).toEqual([]);

  const figures = {
    listeners: streams.length,
    residentMb: [before, opened, told].map(Math.round),
    quietCores: Number(quiet.toFixed(3)),
    cpuSeconds: Math.round((await metric('process_cpu_seconds_total')) - cpuBefore),
    waitMs: [median(waits), Math.max(...waits)].map(Math.round),
    loopLagMs: [median(idle), median(lags), Math.max(...lags)].map((seconds) => Math.round(seconds * 1_000)),
  };
  console.log(JSON.stringify(figures));
  expect(told - before).toBeLessThan(40 + streams.length * 0.1);
  expect(median(lags)).toBeLessThan(median(idle) + 0.05);
  expect(figures.waitMs[1]).toBeLessThan(5_000);
  for (const { response } of streams) response.destroy();
  await expect.poll(() => metric('change_listeners')).toBe(0);
});
