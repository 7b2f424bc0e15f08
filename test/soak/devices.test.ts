import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';
import { runSimulator } from '../support/simulator.ts';

/** 1 is 200 devices for ten minutes; RATE is messages of a device in a second. */
const SCALE = Number(process.env['SOAK'] ?? 0.1);
const RATE = Number(process.env['RATE'] ?? 1);
const DEVICES = Number(process.env['DEVICES'] ?? Math.max(10, Math.round(200 * SCALE)));
const MINUTES = Number(process.env['MINUTES'] ?? 10 * SCALE);
/** Parts of the time at which the server is killed; `KILLED_AT=` lets it live. */
const KILLS = (process.env['KILLED_AT'] ?? '0.35,0.7').split(',').flatMap((part) => (part === '' ? [] : [Number(part)]));
const MINUTE = 60_000;
const IS_WHOLE = SCALE >= 1;
/** Seconds of a life from which on its end says something of its memory after the first minute. */
const LONG = 150;

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
let start: () => Promise<ServerProcess>;
beforeAll(async () => {
  site = await sharedSite();
  const ports = { PORT: String(await findFreePort()), BROKER_PORT: String(await findFreePort()) };
  start = () => spawnServer({ ...site.environment, ...ports });
  server = await start();
  owner = await makePerson(site.database.db, 'owner');
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
}, MINUTE);

/** MiB of memory of a process that is there. */
const residentOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Kills the server twice on the way, and weighs it every second; a list for each life. */
async function disturb(ended: AbortSignal): Promise<number[][]> {
  const lives: number[][] = [[]];
  const began = Date.now();
  const kills = KILLS.map((part) => began + part * MINUTES * MINUTE);
  while (!ended.aborted) {
    await sleep(1_000);
    if (Date.now() > (kills[0] ?? Infinity)) {
      kills.shift();
      await server.kill('SIGKILL');
      server = await start();
      lives.push([]);
    }
    lives.at(-1)!.push(residentOf(server.child.pid!));
  }
  return lives;
}

test(
  `${DEVICES} devices at ${RATE} a second for ${MINUTES} minutes, ${KILLS.length} kills on the way`,
  { timeout: MINUTES * MINUTE + 8 * MINUTE },
  async () => {
    const response = await fetch(`${server.baseUrl}/api/v1/experiments`, {
      method: 'POST',
      headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Simulated field' }),
    });
    const { id: experimentId } = (await response.json()) as { id: string };
    const done = new AbortController();
    const disturbed = disturb(done.signal);
    const load = ['--count', String(DEVICES), '--rate', String(RATE), '--minutes', String(MINUTES), '--drop-every', '120'];
    const address = { dataDir: site.folder, baseUrl: server.baseUrl, apiKey: owner.apiKey, experimentId };
    const { code, report, said } = await runSimulator(address, ...load);
    done.abort();
    const lives = await disturbed;
    const memory = lives.map((life) => ({
      seconds: life.length,
      minute: Math.round(median(life.slice(45, 75))),
      end: Math.round(median(life.slice(-20))),
    }));
    process.stdout.write(
      `${JSON.stringify({ ...report, missing: report?.missing.length, repeated: report?.repeated.length, memory, load: loadavg() })}\n`,
    );
    expect(code, said).toBe(0);
    expect(report).toMatchObject({ devices: DEVICES, missing: [], repeated: [] });
    expect(report!.inTable).toBe(report!.expected);
    expect(report!.acknowledged).toBe(report!.published);
    expect(lives).toHaveLength(1 + KILLS.length);
    for (const life of memory.filter(({ seconds }) => seconds >= LONG))
      expect(life.end, JSON.stringify(life)).toBeLessThan(life.minute * 1.1);
    if (IS_WHOLE) expect(report!.latency!.p95).toBeLessThan(10_000);
  },
);
