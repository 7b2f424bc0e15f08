import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCast, makePerson, type Person } from '../support/cast.ts';
import { ask, judge, untilDone } from '../support/faulted.ts';
import type { Load, Tally } from '../support/load.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const SCALE = Number(process.env['SOAK'] ?? 0.1);
/** Timed comparisons need a machine of their own. */
const isTimed = process.env['SOAK'] !== undefined && SCALE >= 1;
const SECONDS = isTimed ? 60 * SCALE : 3;
const PEOPLE = 12;
/** The default at full size; less on a machine that is shared, whose capacity is small. */
const AT_ONCE = isTimed ? 256 : 24;

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let people: Person[];
let paths: string[];

const post = (person: Person, path: string, body: unknown) => ask(server.baseUrl, { name: 'made', method: 'POST', path, body, person });

/** An experiment of the person's own workspace, with a table of 2,000 rows: where its rows are read, each time another question. */
async function makeReads(person: Person): Promise<string> {
  const made = await post(person, '/api/v1/experiments', { name: 'Busy', organizationId: person.workspaceId, visibility: 'public' });
  const path = `/api/v1/experiments/${made.body.id}/data`;
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'rows' })) form.append(field, value);
  form.append('files', new Blob([`n,g\n${Array.from({ length: 2_000 }, (_, n) => `${n},g${n % 7}`).join('\n')}\n`]), 'rows.csv');
  const sent = await post(person, `${path}/uploads`, form);
  for (;;) {
    const { body } = await ask(server.baseUrl, { name: 'upload', method: 'GET', path: `${path}/uploads/${sent.body.uploadId}`, person });
    if (body.status === 'completed') break;
    if (body.status === 'failed') throw new Error(JSON.stringify(body));
    await sleep(50);
  }
  return path;
}

beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer({ ...site.environment, LOG_LEVEL: 'warn', REQUESTS_AT_ONCE: String(AT_ONCE) });
  await makeCast(site.database.db);
  people = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => makePerson(site.database.db, `crowd${n}`)));
  const filter = `[{"column":"n","operator":"less_than","value":1{n}}]`;
  const query = `tableName=rows&pageSize=100&orderBy=g&filters=${encodeURIComponent(filter).replace('%7Bn%7D', '{n}')}`;
  paths = (await Promise.all(people.map(makeReads))).map((path) => `${path}?${query}`);
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await site?.remove();
});

const load = async (pace: Load['pace'], seconds: number): Promise<Tally> => {
  const order: Load = { baseUrl: server.baseUrl, keys: people.map(({ apiKey }) => apiKey), paths, seconds, pace };
  const program = join(import.meta.dirname, '..', 'support', 'load.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(order)], { maxBuffer: 1_048_576 });
  return JSON.parse(stdout) as Tally;
};

const shown = ({ sent, statuses, accepted, refused, seconds }: Tally) =>
  `${sent} sent in ${seconds.toFixed(1)} s, ${JSON.stringify(statuses)}, accepted p50 ${accepted.p50.toFixed(0)} p95 ${accepted.p95.toFixed(0)} ms, refused p95 ${refused.p95.toFixed(0)} ms`;

const p95 = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(0.95 * values.length)] ?? 0;

interface Beside {
  accepted: number[];
  lives: number[];
}

/** Reads of a few who are not the crowd, while it is at it: what sends a flood is too busy to time it. Looks after the health as well. */
async function beside<T>(work: Promise<T>): Promise<{ seen: Beside; result: T }> {
  const seen: Beside = { accepted: [], lives: [] };
  let isOver = false;
  const reader = people.at(-1)!;
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (let n = 0; !isOver; n += 1) {
      const path = paths.at(-1)!.replace('{n}', `${lane}${n}`);
      const answer = await ask(server.baseUrl, { name: 'beside', method: 'GET', path, person: reader });
      if (judge('beside', answer) === 'done') seen.accepted.push(answer.milliseconds);
      await sleep(20);
    }
  });
  const looking = (async () => {
    while (!isOver) {
      const live = await ask(server.baseUrl, { name: 'live', method: 'GET', path: '/health/live' });
      expect(live.status).toBe(200);
      seen.lives.push(live.milliseconds);
      await sleep(50);
    }
  })();
  try {
    return { result: await work, seen };
  } finally {
    isOver = true;
    await Promise.all([...lanes, looking]);
  }
}

test(
  `ten times the capacity for ${SECONDS} s: what is accepted is quick, the rest is told when to come back`,
  { timeout: 600_000 },
  async () => {
    await load({ senders: AT_ONCE / 4 }, isTimed ? 3 : 1);
    // as many senders as fill the machine and are all let in
    const usual = await beside(load({ senders: Math.floor((AT_ONCE * 5) / 8) }, Math.max(isTimed ? 5 : 2, SECONDS / 3)));
    const perSecond = (usual.result.statuses['200'] ?? 0) / usual.result.seconds;
    const usualP95 = p95(usual.seen.accepted);
    console.log(`at capacity (${perSecond.toFixed(0)} reads a second): ${shown(usual.result)}; beside it p95 ${usualP95.toFixed(0)} ms`);
    expect(Object.keys(usual.result.statuses)).toEqual(['200']);
    const { result: flooded, seen } = await beside(load({ perSecond: Math.max(200, 10 * perSecond) }, SECONDS));
    const end = performance.now();
    await untilDone(server.baseUrl, { name: 'next', method: 'GET', path: paths[0]!.replace('{n}', '7'), person: people[0]! });
    const recovered = performance.now() - end;
    console.log(
      `at ten times: ${shown(flooded)}; beside it ${seen.accepted.length} accepted, p95 ${p95(seen.accepted).toFixed(0)} ms; ` +
        `live p95 ${p95(seen.lives).toFixed(0)} ms; the next answer ${recovered.toFixed(0)} ms after the end`,
    );
    const { '200': accepted = 0, '429': busy = 0, '503': full = 0, ...others } = flooded.statuses;
    expect(others).toEqual({});
    expect(accepted).toBeGreaterThan(0);
    expect(busy + full).toBeGreaterThan(accepted);
    expect(flooded.bare).toBe(0);
    expect(recovered).toBeLessThan(5_000);
    if (isTimed) expect(p95(seen.accepted)).toBeLessThan(2 * usualP95);
  },
);
