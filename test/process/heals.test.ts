import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, getJson, numberedCsv, seeded, sendCsv } from '../support/crashes.ts';
import { runCommand } from '../support/command.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['HEALS'] ?? 2);
const SEED = Number(process.env['SEED'] ?? (process.env['SOAK'] === undefined ? 22 : Math.floor(Math.random() * 1_000_000_000)));
const ROWS = 500;
const HEALED_MS = 10_000;
/** A heartbeat is missed after 10 s and seen within as many; with the work that waited meanwhile. */
const GIVEN_BACK_MS = 45_000;

const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-heals-'));
let server: ServerProcess;
let owner: Person;
let experimentId: string;

const post = (path: string, body: object) =>
  fetch(`${server.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  server = await spawnServer({ DATA_DIR: dataDir, MACRO_LANGUAGES: 'javascript', LOG_LEVEL: 'error' });
  const made = await runCommand(
    { dataDir },
    'user',
    ...['create', '--email', 'heals@example.org', '--first-name', 'Hea', '--last-name', 'Led', '--rate-limit', '1000000'],
  );
  expect(made).toMatchObject({ code: 0 });
  owner = { id: made.json.userId, apiKey: made.json.apiKey } as Person;
  experimentId = ((await (await post('/api/v1/experiments', { name: 'Healing' })).json()) as { id: string }).id;
  process.stdout.write(`heals: SEED=${SEED}\n`);
}, 120_000);
afterAll(async () => {
  await server.kill('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
}, 60_000);

/** Processes whose parent is this one, as the kernel says. */
function childrenOf(parent: number): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // the name of the program stands in brackets and may hold anything
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(ppid) === parent && state !== 'Z') found.push(Number(name));
    } catch {
      // ended while it was looked at
    }
  return found;
}

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
const postmaster = () => Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
const backends = () =>
  childrenOf(postmaster()).filter((pid) => {
    try {
      return commandOf(pid).startsWith('postgres: postgres fieldlake');
    } catch {
      return false;
    }
  });

/** Everything that runs macros: what the server started, without the Postgres. */
function interpreters(): number[] {
  const own = childrenOf(server.child.pid!).filter((pid) => pid !== postmaster());
  return own.flatMap((pid) => [pid, ...childrenOf(pid)]);
}

interface Load {
  accepted: Set<number>;
  wrong: string[];
  statuses: Record<number, number>;
  stop(): Promise<void>;
}

let file = 0;

/** People who upload and read without pause, and whoever asks for a wrong answer: 503 must say when to come back, and nothing is 500. */
function underLoad(fields: Record<string, string>): Load {
  const load: Load = { accepted: new Set(), wrong: [], statuses: {}, stop: () => Promise.resolve() };
  let going = true;
  const note = (status: number, retryAfter: string | null, what: string) => {
    load.statuses[status] = (load.statuses[status] ?? 0) + 1;
    if (![200, 201, 503].includes(status)) load.wrong.push(`${what}: ${status}`);
    if (status === 503 && retryAfter === null) load.wrong.push(`${what}: 503 without Retry-After`);
  };
  const uploads = async () => {
    while (going) {
      file += 1;
      const mine = file;
      const answer = await sendCsv(server, owner, { experimentId, fields }, `file-${mine}.csv`, numberedCsv(mine, ROWS));
      if (answer === undefined) load.wrong.push('upload: no answer');
      else note(answer.code, answer.retryAfter, 'upload');
      if (answer?.code === 201) load.accepted.add(mine);
      await sleep(answer?.code === 201 ? 300 : 50);
    }
  };
  const reads = async () => {
    while (going) {
      const response = await fetch(`${server.baseUrl}/api/v1/experiments/${experimentId}`, { headers: { 'x-api-key': owner.apiKey } });
      note(response.status, response.headers.get('retry-after'), `read ${(await response.text()).slice(0, 120)}`);
      await sleep(10);
    }
  };
  const running = [uploads(), reads(), reads(), reads()];
  load.stop = async () => {
    going = false;
    await Promise.all(running);
  };
  return load;
}

/** Milliseconds until the service is ready and a write succeeds, after something was seen to be gone. */
async function healing(gone: () => boolean): Promise<number> {
  const since = performance.now();
  await eventually(() => Promise.resolve(gone()), Boolean, HEALED_MS);
  expect(gone()).toBe(true);
  const works = async () =>
    (await fetch(`${server.baseUrl}/health/ready`)).status === 200 && (await post('/api/v1/experiments', { name: 'again' })).status === 201;
  await eventually(works, Boolean, 2 * HEALED_MS);
  return Math.round(performance.now() - since);
}

const perFile = async (tableId: string) => {
  const aggregation = encodeURIComponent(
    JSON.stringify({
      groupBy: [{ column: 'file' }],
      functions: [
        { column: 'row', function: 'count' },
        { column: 'row', function: 'count_distinct' },
      ],
    }),
  );
  const path = `/api/v1/experiments/${experimentId}/data?tableName=${tableId}&aggregation=${aggregation}&limit=100000`;
  const answer = await getJson(server, owner, path);
  return (answer[0]?.data.rows ?? []) as { file: number; row_count: number; row_count_distinct: number }[];
};

async function newTable(name: string): Promise<string> {
  file += 1;
  const answer = await sendCsv(
    server,
    owner,
    { experimentId, fields: { targetKind: 'new', targetName: name } },
    'first.csv',
    numberedCsv(file, ROWS),
  );
  expect(answer?.code).toBe(201);
  await eventually(
    () => perFile(answer!.uploadTableId).catch(() => []),
    (rows) => rows.length === 1,
    30_000,
  );
  return answer!.uploadTableId;
}

const VICTIMS = [
  { victim: 'the postmaster', pids: () => [postmaster()] },
  { victim: 'a backend', pids: backends },
];

test.each(VICTIMS)(
  `kill -9 of $victim ${KILLS} times under load: healed within ten seconds, nothing lost or doubled`,
  async ({ victim, pids }) => {
    const random = seeded(SEED);
    const tableId = await newTable(victim.replaceAll(' ', '_'));
    const load = underLoad({ targetKind: 'existing', uploadTableId: tableId });
    const took: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(300 + random() * 700);
      const candidates = pids();
      const pid = candidates[Math.floor(random() * candidates.length)]!;
      process.kill(pid, 'SIGKILL');
      took.push(
        await healing(() => {
          try {
            return !pids().includes(pid);
          } catch {
            return true;
          }
        }),
      );
    }
    await load.stop();
    process.stdout.write(`${victim}: ${KILLS} kills, healed in ms ${took.join(' ')}, answers ${JSON.stringify(load.statuses)}\n`);
    expect(load.wrong).toEqual([]);
    expect(load.accepted.size).toBeGreaterThan(0);
    expect(Math.max(...took)).toBeLessThan(HEALED_MS);
    const rows = await eventually(
      () => perFile(tableId),
      (all) => [...load.accepted].every((each) => all.some((row) => row.file === each)),
      60_000,
    );
    expect([...load.accepted].filter((each) => !rows.some((row) => row.file === each))).toEqual([]);
    expect(rows.filter((row) => row.row_count !== ROWS || row.row_count_distinct !== ROWS)).toEqual([]);
    expect(server.child.exitCode).toBeNull();
  },
  120_000 + KILLS * 20_000,
);

test(
  `kill -9 of an interpreter ${KILLS} times while macros run: the next call succeeds within ten seconds`,
  async () => {
    const random = seeded(SEED);
    const made = await post('/api/v1/macros', { name: 'twice', language: 'javascript', code: 'return { twice: json.n * 2 };' });
    const { id } = (await made.json()) as { id: string };
    const run = async (n: number) => {
      const response = await post(`/api/v1/macros/${id}/execute`, { data: { n } });
      return { status: response.status, body: (await response.json()) as { success?: boolean; output?: { twice: number } } };
    };
    expect(await run(2)).toMatchObject({ status: 200, body: { success: true, output: { twice: 4 } } });
    const took: number[] = [];
    const wrong: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const during = Promise.all([1, 2, 3, 4].map((n) => run(n)));
      await sleep(random() * 30);
      const candidates = await eventually(
        () => Promise.resolve(interpreters()),
        (all) => all.length > 0,
        HEALED_MS,
      );
      expect(candidates.length).toBeGreaterThan(0);
      const since = performance.now();
      process.kill(candidates[Math.floor(random() * candidates.length)]!, 'SIGKILL');
      for (const [at, { status, body }] of (await during).entries()) {
        if (status !== 200 && status !== 503) wrong.push(`status ${status}`);
        if (body.success === true && body.output?.twice !== (at + 1) * 2) wrong.push(JSON.stringify(body));
      }
      const healed = await eventually(
        () => run(21),
        ({ body }) => body.output?.twice === 42,
        HEALED_MS,
      );
      expect(healed.body).toMatchObject({ success: true, output: { twice: 42 } });
      took.push(Math.round(performance.now() - since));
    }
    process.stdout.write(`an interpreter: ${KILLS} kills, healed in ms ${took.join(' ')}\n`);
    expect(wrong).toEqual([]);
    expect(Math.max(...took)).toBeLessThan(HEALED_MS);
    expect(server.child.exitCode).toBeNull();
  },
  60_000 + KILLS * 20_000,
);

test(
  `kill -9 of the worker ${KILLS} times under load: a new one works within ten seconds, nothing lost or doubled`,
  async () => {
    const site = await sharedSite();
    const started = [server, owner, experimentId] as const;
    const worker = { process: await spawnServer({ ...site.environment, WORKER: 'on', BROKER: 'off' }) };
    const api = await spawnServer({ ...site.environment, WORKER: 'off', BROKER: 'off' });
    try {
      const random = seeded(SEED);
      server = api;
      owner = await makePerson(site.database.db, 'owner');
      experimentId = ((await (await post('/api/v1/experiments', { name: 'Worked' })).json()) as { id: string }).id;
      const tableId = await newTable('worked');
      const load = underLoad({ targetKind: 'existing', uploadTableId: tableId });
      const took: number[] = [];
      const again: number[] = [];
      const hasRows = (files: ReadonlySet<number>) => (rows: { file: number }[]) =>
        [...files].every((each) => rows.some((row) => row.file === each));
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(300 + random() * 1_500);
        await worker.process.kill('SIGKILL');
        // nobody else works: what has rows now had them before the kill
        const before = new Set(load.accepted);
        const had = new Set((await perFile(tableId)).map((row) => row.file));
        const isNew = (rows: { file: number }[]) => rows.some((row) => !had.has(row.file));
        const restarted = performance.now();
        worker.process = await spawnServer({ ...site.environment, WORKER: 'on', BROKER: 'off' });
        expect(isNew(await eventually(() => perFile(tableId), isNew, 2 * HEALED_MS))).toBe(true);
        took.push(Math.round(performance.now() - restarted));
        // what the killed one had begun is given back by its missing heartbeat
        expect(hasRows(before)(await eventually(() => perFile(tableId), hasRows(before), 60_000))).toBe(true);
        again.push(Math.round(performance.now() - restarted));
      }
      await load.stop();
      const rows = await eventually(() => perFile(tableId), hasRows(load.accepted), 60_000);
      process.stdout.write(
        `the worker: ${KILLS} kills, works in ms ${took.join(' ')}, what was begun in ms ${again.join(' ')}, answers ${JSON.stringify(load.statuses)}\n`,
      );
      expect(load.wrong).toEqual([]);
      expect(load.accepted.size).toBeGreaterThan(KILLS);
      expect([...load.accepted].filter((each) => !rows.some((row) => row.file === each))).toEqual([]);
      expect(rows.filter((row) => row.row_count !== ROWS || row.row_count_distinct !== ROWS)).toEqual([]);
      expect(Math.max(...took)).toBeLessThan(HEALED_MS);
      expect(Math.max(...again)).toBeLessThan(GIVEN_BACK_MS);
      expect(api.child.exitCode).toBeNull();
    } finally {
      [server, owner, experimentId] = started;
      await Promise.all([worker.process, api].map((each) => each.kill('SIGTERM')));
      await site.remove();
    }
  },
  120_000 + KILLS * 90_000,
);
