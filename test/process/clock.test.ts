import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { openJobQueue } from '../../src/jobs/queue.ts';
import { makeCast, type Cast } from '../support/cast.ts';
import { ask, type Operation } from '../support/faulted.ts';
import { codeIn } from '../support/outbox.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

// the Debian package libfaketime; `.ci/packages` installs it
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const HOUR = 3_600_000;

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let cast: Cast;
let experimentId: string;

const faked = () => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME_TIMESTAMP_FILE: join(site.folder, 'clock'),
  FAKETIME_NO_CACHE: '1',
  DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
const set = (offset: string) => writeFileSync(join(site.folder, 'clock'), `${offset}\n`);

beforeAll(async () => {
  site = await sharedSite();
  set('+0');
  server = await spawnServer({ ...site.environment, ...faked(), SIGN_INS_PER_MINUTE: '100000' });
  cast = await makeCast(site.database.db);
  const made = await send('POST', '/api/v1/experiments', { body: { name: 'Clock', organizationId: cast.leafLab } });
  experimentId = made.body.id;
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await site?.remove();
});

const send = (method: string, path: string, more: Partial<Operation> = {}) =>
  ask(server.baseUrl, { name: `${method} ${path}`, method, path, person: cast.owner, ...more });
const away = async () => (await send('GET', '/health/time', { person: null })).body.utcTimestampMs - Date.now();

async function codeFor(email: string): Promise<string> {
  const asked = await send('POST', '/api/v1/auth/email-otp/send-verification-otp', {
    body: { email, type: 'sign-in' },
    headers: { origin: server.baseUrl },
    person: null,
  });
  expect(asked.status, asked.text).toBe(200);
  for (let tries = 0; tries < 200; tries += 1) {
    const folder = join(site.folder, 'outbox');
    const letters = readdirSync(folder)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const letter = letters.find((text) => text.includes(email));
    if (letter !== undefined) return codeIn(letter);
    await sleep(50);
  }
  throw new Error(`no letter reached ${email}`);
}

const signIn = (email: string, otp: string) =>
  send('POST', '/api/v1/auth/sign-in/email-otp', { body: { email, otp }, headers: { origin: server.baseUrl }, person: null });

async function uploaded(name: string): Promise<number> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name })) form.append(field, value);
  form.append('files', new Blob(['a,b\n1,x\n2,y\n']), `${name}.csv`);
  const path = `/api/v1/experiments/${experimentId}/data/uploads`;
  const sent = await send('POST', path, { body: form });
  expect(sent.status, sent.text).toBe(201);
  for (let tries = 0; tries < 200; tries += 1) {
    const { body } = await send('GET', `${path}/${sent.body.uploadId}`);
    if (body.status === 'completed') break;
    await sleep(50);
  }
  return (await send('GET', `/api/v1/experiments/${experimentId}/data?tableName=${name}`)).body[0].totalRows;
}

const CLOCKS = ['+0', '+3600', '-3600', '+0'] as const;

test('a clock that is an hour ahead, then an hour behind, locks nobody out and loses nothing', async () => {
  // begun under the right clock, used under every other
  const early = 'early@example.com';
  const session = await signIn(early, await codeFor(early));
  expect(session.status, session.text).toBe(200);
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const body = { name: 'Once', organizationId: cast.leafLab };
  const once = await send('POST', '/api/v1/experiments', { body, headers: { 'idempotency-key': 'one' } });
  expect(once.status).toBe(201);
  for (const [turn, clock] of CLOCKS.entries()) {
    const crossing = `crossing${turn}@example.com`;
    // a code and a signed URL that are asked for before the clock jumps
    const code = await codeFor(crossing);
    set(clock);
    await expect
      .poll(async () => Math.abs((await away()) - Number(clock) * 1_000), { message: clock, timeout: 10_000 })
      .toBeLessThan(30_000);
    expect(Math.abs(Number(clock) * 1_000)).toBeLessThanOrEqual(HOUR);
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
    const ahead = Number(/^machine_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);
    expect(Math.abs(ahead - Number(clock)), `${clock} ${ahead}`).toBeLessThan(30);
    const crossed = await signIn(crossing, code);
    expect(crossed.status, `${clock} ${crossed.text}`).toBe(200);
    const fresh = `fresh${turn}@example.com`;
    expect((await signIn(fresh, await codeFor(fresh))).status, clock).toBe(200);
    const me = await send('GET', '/api/v1/auth/get-session', { person: null, headers: { cookie } });
    expect(me.body?.user?.email, `${clock} ${me.text}`).toBe(early);
    expect((await send('GET', '/api/v1/experiments')).status, clock).toBe(200);
    const again = await send('POST', '/api/v1/experiments', { body, headers: { 'idempotency-key': 'one' } });
    expect([again.status, again.body.id], clock).toEqual([201, once.body.id]);
    expect(await uploaded(`clock${turn}`), clock).toBe(2);
    const put = await send('POST', '/api/v1/iot/upload-url', { body: { experimentId } });
    expect(put.status, put.text).toBe(201);
    const message = JSON.stringify([{ id: `message-${turn}`, timestamp: '2024-05-01T10:00:00Z', device_id: 'a', sample: { turn } }]);
    expect((await fetch(put.body.uploadUrl, { method: 'PUT', headers: put.body.headers, body: message })).status, clock).toBe(200);
    expect(server.child.exitCode).toBeNull();
  }
  for (let tries = 0; ; tries += 1) {
    const found = await send('GET', `/api/v1/experiments/${experimentId}/data?tableName=raw_data`);
    if (found.body[0].totalRows === CLOCKS.length) break;
    if (tries > 200) throw new Error(`${found.body[0].totalRows} measurements`);
    await sleep(100);
  }
  const jobs = await site.database.db.rows(
    sql('test')`select name, state::text from pgboss.job where state in ('retry', 'failed') or retry_count > 0`,
  );
  expect(jobs, 'no job was tried twice').toEqual([]);
});

/** Has a job of the night done now. */
async function runJob(name: string): Promise<void> {
  const { database } = site;
  const jobs = await openJobQueue({ url: database.url, role: APPLICATION_ROLE, onError: () => undefined });
  await jobs.enqueue(name, {}, { key: 'clock' });
  await jobs.stop();
  await expect
    .poll(() => database.db.rows(sql('test')`select state::text from pgboss.job where name = ${name} and singleton_key = 'clock'`), {
      timeout: 20_000,
    })
    .toEqual([{ state: 'completed' }]);
}

test('a machine whose clock is forty days ahead forgets no version before its time', async () => {
  const path = `/api/v1/experiments/${experimentId}/data`;
  expect(await uploaded('kept')).toBe(2);
  const [{ id, version }] = await site.database.db.rows<any>(sql('test')`select id, version from lake_tables where name = 'kept'`);
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: id })) form.append(field, value);
  form.append('files', new Blob(['a,b\n3,z\n']), 'more.csv');
  expect((await send('POST', `${path}/uploads`, { body: form })).status).toBe(201);
  const rowsNow = async () => (await send('GET', `${path}?tableName=kept`)).body[0].totalRows;
  await expect.poll(rowsNow, { timeout: 20_000 }).toBe(3);
  const rowsBefore = async () => (await send('GET', `${path}?tableName=kept&asOf=${version}`)).body[0]?.totalRows;
  expect(await rowsBefore()).toBe(2);
  set(`+${40 * 86_400}`);
  try {
    await expect.poll(away, { timeout: 10_000 }).toBeGreaterThan(39 * 24 * HOUR);
    await runJob('lake.sweep');
    expect(await rowsBefore()).toBe(2);
  } finally {
    set('+0');
  }
});

test('a worker whose clock is an hour ahead of the server sends the codes that people ask for there', async () => {
  await server.kill('SIGTERM');
  server = await spawnServer({ ...site.environment, WORKER: 'off' });
  set('+3600');
  const worker = await spawnServer({ ...site.environment, ...faked(), BASE_URL: server.baseUrl }, 'worker');
  try {
    const apart = 'apart@example.com';
    expect((await signIn(apart, await codeFor(apart))).status).toBe(200);
  } finally {
    await worker.kill('SIGTERM');
    set('+0');
  }
});
