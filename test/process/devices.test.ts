import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { seeded, seedOf } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['KILLS'] ?? 2);
const DEVICES = 6;

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
});

/** The answer's status and body; undefined when the server died on the way. */
async function call(method: string, path: string, body?: object) {
  try {
    const response = await fetch(`${server.baseUrl}/api/v1/${path}`, {
      method,
      headers: { 'x-api-key': owner.apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: (await response.json()) as any };
  } catch {
    return undefined;
  }
}

interface Found {
  thingName: string;
  state: string | null;
  certificateId: string | null;
  sequence: unknown;
  certificates: { certificateId: string; status: string }[];
}

const ROTATED = 'POST /credentials/rotate 201';

/** Every thing and every device's row, side by side. */
const everything = () =>
  site.database.db.rows<Found>(sql('test')`
    select coalesce(d.thing_name, t.thing_name) as "thingName", d.state, d.certificate_id as "certificateId", d.sequence,
      coalesce(t.record -> 'certificates', '[]') as certificates
    from devices d full join registry_things t on t.thing_name = d.thing_name`);

function disagreements(rows: readonly Found[]): string[] {
  return rows.flatMap(({ thingName, state, certificateId, sequence, certificates }) => {
    const live = certificates.filter(({ status }) => status === 'active').map((one) => one.certificateId);
    const wanted = state === 'active' ? [certificateId] : [];
    const agrees = state !== null && sequence === null && JSON.stringify(live) === JSON.stringify(wanted);
    return agrees && state !== 'rotating' ? [] : [JSON.stringify({ thingName, state, certificateId, sequence, certificates })];
  });
}

test(
  `kill -9 at ${KILLS} moments of registering, issuing, rotating, revoking and deleting: one live certificate or none, row and registry agree`,
  { timeout: 300_000 + KILLS * 20_000 },
  async () => {
    const random = seeded(seedOf('devices'));
    const answered: Record<string, number> = {};
    let serial = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const dead = new AbortController();
      const life = async () => {
        while (!dead.signal.aborted) {
          const made = await call('POST', 'devices', { serialNumber: `K-${(serial += 1)}`, deviceType: 'minipar' });
          const path = `devices/${String(made?.body?.id)}`;
          const acts: [string, string][] = [
            ['POST', `${path}/credentials`],
            ['POST', `${path}/credentials/rotate`],
            ['DELETE', `${path}/credentials`],
            ['POST', `${path}/credentials`],
            ['DELETE', path],
          ];
          // some stay as they are, in any of the states
          for (const [method, at] of acts.slice(0, 1 + Math.floor(random() * acts.length))) {
            const answer: Awaited<ReturnType<typeof call>> =
              dead.signal.aborted || made?.status !== 201 ? undefined : await call(method, at);
            if (!answer) return;
            const what = `${method} ${at.replace(path, '')} ${answer.status}`;
            answered[what] = (answered[what] ?? 0) + 1;
          }
        }
      };
      const lives = Array.from({ length: DEVICES }, life);
      // however slow the machine: nothing is shown of a rotation by kills before there is one
      while (answered[ROTATED] === undefined) await sleep(50);
      await sleep(random() * 1_500);
      const gone = server.kill('SIGKILL');
      dead.abort();
      await Promise.all([gone, ...lives]);
      server = await spawnServer(site.environment);
      const end = Date.now() + 15_000;
      let rows = await everything();
      while (disagreements(rows).length > 0 && Date.now() < end) {
        await sleep(200);
        rows = await everything();
      }
      expect(disagreements(rows)).toEqual([]);
    }
    process.stdout.write(`${JSON.stringify({ registered: serial, answered })}\n`);
    expect(Object.keys(answered).every((what) => /20[01]$/.test(what))).toBe(true);
  },
);
