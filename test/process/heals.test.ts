import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectAsync as connectMqttAsync } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, getJson, numberedCsv, seeded, seedOf, sendCsv } from '../support/crashes.ts';
import { runCommand } from '../support/command.ts';
import { findFreePort } from '../support/free-port.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['HEALS'] ?? 1);
const SEED = seedOf('heals');
const ROWS = 500;
const HEALED_MS = 10_000;

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
});
afterAll(async () => {
  await server.kill('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
});

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
function underLoad(fields: Record<string, string>, everyMs = 300): Load {
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
      await sleep(answer?.code === 201 ? everyMs : 50);
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
    try {
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
    } finally {
      await load.stop();
    }
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
  300_000 + KILLS * 20_000,
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
  300_000 + KILLS * 20_000,
);

interface Sending {
  /** Ids of the measurements that were acknowledged. */
  accepted: Set<string>;
  stop(): Promise<void>;
}

/** A device that publishes to a broker which comes and goes, and a person whose objects are put through a process that stays. */
async function sendMessages(broker: ServerProcess): Promise<Sending> {
  const sending: Sending = { accepted: new Set(), stop: () => Promise.resolve() };
  let going = true;
  let sent = 0;
  const measurement = (kind: string) => {
    const id = `${kind}-${(sent += 1)}`;
    return {
      id,
      text: JSON.stringify({ id, device_id: kind, workbook_run_id: id, timestamp: new Date().toISOString(), sample: { n: sent } }),
    };
  };
  const say = async (path: string, body: object) => {
    const headers = { 'x-api-key': owner.apiKey, 'content-type': 'application/json' };
    const response = await fetch(`${broker.baseUrl}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBeLessThan(300);
    return (await response.json()) as any;
  };
  const { id, thingName } = await say('devices', { serialNumber: 'H-1', deviceType: 'multispeq' });
  const { certificatePem, privateKey } = await say(`devices/${id}/credentials`, {});
  const { endpoint, experiments } = await say(`devices/${id}/onboard`, { experimentIds: [experimentId] });
  const client = await connectMqttAsync(`mqtts://${endpoint}`, {
    clientId: thingName,
    key: privateKey,
    cert: certificatePem,
    rejectUnauthorized: false,
    reconnectPeriod: 200,
  });
  client.on('error', () => undefined);
  const publishes = async () => {
    while (going) {
      const { id: one, text } = measurement('mqtt');
      // sent again by the client on its next connection until it is acknowledged
      void client.publishAsync(`${experiments[0].topicPrefix}/2.0/sensor-1`, text, { qos: 1 }).then(
        () => sending.accepted.add(one),
        () => undefined,
      );
      await sleep(100);
    }
  };
  const puts = async () => {
    while (going) {
      const lines = Array.from({ length: 20 }, () => measurement('object'));
      const { uploadUrl, headers } = (await (await post('/api/v1/iot/upload-url', { experimentId })).json()) as any;
      const body = lines.map(({ text }) => text).join('\n');
      if ((await fetch(uploadUrl, { method: 'PUT', headers, body })).ok) for (const line of lines) sending.accepted.add(line.id);
      await sleep(1_000);
    }
  };
  const running = [publishes(), puts()];
  sending.stop = async () => {
    going = false;
    await Promise.all(running);
    await client.endAsync(true);
  };
  return sending;
}

/** How many rows there are of each measurement. */
async function perMeasurement(): Promise<Map<string, number>> {
  const aggregation = encodeURIComponent(
    JSON.stringify({ groupBy: [{ column: 'workbook_run_id' }], functions: [{ column: 'id', function: 'count' }] }),
  );
  const path = `/api/v1/experiments/${experimentId}/data?tableName=raw_data&aggregation=${aggregation}&limit=100000`;
  const answer = await getJson(server, owner, path);
  const rows = answer[0].data.rows as { workbook_run_id: string; id_count: number }[];
  return new Map(rows.map((row) => [row.workbook_run_id, row.id_count]));
}

test(
  `kill -9 of the worker ${KILLS} times under load: what was begun and what comes new has rows within ten seconds, nothing lost or doubled`,
  async () => {
    const site = await sharedSite();
    const started = [server, owner, experimentId] as const;
    const worked = { ...site.environment, WORKER: 'on', BROKER_PORT: String(await findFreePort()) };
    const [first, api] = await Promise.all([spawnServer(worked), spawnServer({ ...site.environment, WORKER: 'off', BROKER: 'off' })]);
    const worker = { process: first };
    let stopLoad = () => Promise.resolve();
    try {
      const random = seeded(SEED);
      server = api;
      owner = await makePerson(site.database.db, 'owner');
      experimentId = ((await (await post('/api/v1/experiments', { name: 'Worked' })).json()) as { id: string }).id;
      const tableId = await newTable('worked');
      const messages = await sendMessages(worker.process);
      const fields = { targetKind: 'existing', uploadTableId: tableId };
      // a file takes a worker on a machine that others use too up to a second: more would wait behind each other whether it is killed or not
      const load = underLoad(fields, 1_000);
      stopLoad = async () => {
        await Promise.all([load.stop(), messages.stop()]);
      };
      const taken: Record<'ready' | 'uploads' | 'messages' | 'a new upload', number[]> = {
        ready: [],
        uploads: [],
        messages: [],
        'a new upload': [],
      };
      const missing = async (files: ReadonlySet<number>) => {
        const rows = await perFile(tableId);
        return [...files].filter((each) => !rows.some((row) => row.file === each));
      };
      const unstored = async (ids: ReadonlySet<string>) => {
        const rows = await perMeasurement();
        return [...ids].filter((id) => !rows.has(id));
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(300 + random() * 1_500);
        await worker.process.kill('SIGKILL');
        const before = { files: new Set(load.accepted), ids: new Set(messages.accepted) };
        const restarted = performance.now();
        const until = async (what: keyof typeof taken, left: () => Promise<unknown[]>) => {
          expect(await eventually(left, ({ length }) => length === 0, 3 * HEALED_MS), what).toEqual([]);
          taken[what].push(Math.round(performance.now() - restarted));
        };
        worker.process = await spawnServer(worked);
        taken.ready.push(Math.round(performance.now() - restarted));
        file += 1;
        const fresh = file;
        const answer = await sendCsv(server, owner, { experimentId, fields }, `new-${fresh}.csv`, numberedCsv(fresh, ROWS));
        expect(answer?.code).toBe(201);
        load.accepted.add(fresh);
        await Promise.all([
          until('uploads', () => missing(before.files)),
          until('messages', () => unstored(before.ids)),
          until('a new upload', () => missing(new Set([fresh]))),
        ]);
      }
      await stopLoad();
      await eventually(
        () => missing(load.accepted),
        ({ length }) => length === 0,
        60_000,
      );
      await eventually(
        () => unstored(messages.accepted),
        ({ length }) => length === 0,
        60_000,
      );
      const [rows, measured] = [await perFile(tableId), await perMeasurement()];
      process.stdout.write(
        `the worker: ${KILLS} kills, after the restart in ms ${JSON.stringify(taken)}; ${load.accepted.size} uploads, ${messages.accepted.size} messages, answers ${JSON.stringify(load.statuses)}\n`,
      );
      expect(load.wrong).toEqual([]);
      expect(load.accepted.size).toBeGreaterThan(KILLS);
      for (const kind of ['mqtt', 'object'])
        expect([...messages.accepted].filter((id) => id.startsWith(kind)).length, kind).toBeGreaterThan(KILLS);
      expect([...load.accepted].filter((each) => !rows.some((row) => row.file === each))).toEqual([]);
      expect(rows.filter((row) => row.row_count !== ROWS || row.row_count_distinct !== ROWS)).toEqual([]);
      expect([...messages.accepted].filter((id) => !measured.has(id))).toEqual([]);
      expect([...measured].filter(([, count]) => count !== 1)).toEqual([]);
      // a process is ready 2 s after its start on a quiet machine, and 6 s on a crowded one
      for (const [what, took] of Object.entries(taken)) {
        const sinceReady = took.map((ms, kill) => ms - taken.ready[kill]!);
        expect(Math.max(...sinceReady), what).toBeLessThan(HEALED_MS);
      }
      expect(api.child.exitCode).toBeNull();
    } finally {
      await stopLoad();
      [server, owner, experimentId] = started;
      await Promise.all([worker.process, api].map((each) => each.kill('SIGTERM')));
      await site.remove();
    }
  },
  300_000 + KILLS * 90_000,
);
