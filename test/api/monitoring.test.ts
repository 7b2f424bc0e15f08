import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Database } from '../../src/database/database.ts';
import type { Query } from '../../src/database/sql.ts';
import { makeWorld, writeHistories, type World } from '../support/monitored-world.ts';
import { deviceView, iso, lastData, manyDevices, observed, presence } from '../support/monitoring-oracle.ts';
import type { OracleDevice, OracleEvent, OracleQuestion } from '../support/monitoring-oracle.ts';
import { seedRandomTests } from '../support/random.ts';
import { callsTo, startTestServer, type TestServer } from '../support/server.ts';

seedRandomTests();
const ALL = process.env['SOAK'] === '1';
const RUNS = Number(process.env['RUNS'] ?? (ALL ? 50 : 5));

let site: TestServer;
let as: TestServer['as'];
let world: World;
beforeAll(async () => {
  // a worker would take the made-up sums to the lake
  site = await startTestServer({ WORKER: 'off' });
  as = site.as;
  world = await makeWorld(site);
});
afterAll(() => site.stop());

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const START = Date.parse('2026-05-01T00:00:00Z') * 1_000;

/** Microseconds within three days; mostly at the edges of a few hours about a midnight, so that they meet. */
const moment = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 * DAY - 1 }) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(22, 23, 24, 24, 24, 25), fc.constantFrom(-1, 0, 1, 1_000, HOUR / 2, HOUR / 2))
      .map(([hour, by]) => hour * HOUR + by),
  },
);
const event: fc.Arbitrary<OracleEvent> = fc
  .record({
    at: moment,
    up: fc.boolean(),
    reason: fc.constantFrom(null, 'CONNECTION_LOST'),
    session: fc.constantFrom(null, 's1', 's2', 's3'),
  })
  .map(({ at, up, reason, session }) => ({ at: START + at - (at % 1_000), up, session, reason: up ? null : reason }));
const measurement = fc.record({
  at: moment.map((at) => START + at),
  experiment: fc.constantFrom(0, 0, 0, 1, 2),
  version: fc.constantFrom('1.0', '1.0', '1.0', '1.0', '2.0', null),
  protocol: fc.constantFrom('p1', 'p1', 'p1', 'p1', 'p2', null),
  workbook: fc.constantFrom(null, null, null, 'w1'),
  run: fc.constantFrom(null, 'r1', 'r2', 'r3'),
  macros: fc.constantFrom([], [], [], [0], [0, 1]),
  battery: fc.option(fc.integer({ min: 0, max: 1_000 }).map((value) => value / 8)),
  gps: fc.option(fc.record({ latitude: fc.integer({ min: -90, max: 90 }), longitude: fc.integer({ min: -180, max: 180 }) })),
});
const history = fc.record({
  events: fc.array(event, { maxLength: 12 }),
  measurements: fc.array(measurement, { maxLength: 45, size: 'max' }),
});

const worlds = fc.record({
  histories: fc.array(history, { minLength: 4, maxLength: 4 }),
  batch: fc.integer({ min: 1, max: 20 }),
  range: fc.tuple(moment, moment),
  bucket: fc.constantFrom('hour' as const, 'day' as const),
});
type Made = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

function devicesOf({ histories }: Made): OracleDevice[] {
  return histories.map(({ events, measurements }, device) => ({
    id: world.devices[device]!.id,
    events,
    measurements: measurements.map((one, n) => ({
      ...one,
      id: `${device}-${n}`,
      experiment: world.experiments[one.experiment]!,
      macros: one.macros.map((macro) => world.macros[macro]!),
      sample: `{"n":${n}}`,
    })),
  }));
}

const sums = (list: readonly any[], keyOf: (one: any) => string) => {
  const found: Record<string, number> = {};
  for (const one of list) {
    if (keyOf(one) in found) throw new Error(`${keyOf(one)} is there twice`);
    found[keyOf(one)] = one.count;
  }
  return found;
};
const isSorted = (list: readonly any[], keyOf: (one: any) => string | number) =>
  list.every((one, index) => index === 0 || keyOf(list[index - 1]) <= keyOf(one));
const close = (value: unknown): unknown => (typeof value === 'number' ? expect.closeTo(value, 6) : value);

const presenceIn = (body: any) => ({
  events: body.events.map((one: any) => [one.eventTimestamp, one.eventType, one.disconnectReason, one.sessionIdentifier]),
  sessions: body.sessions.map((one: any) => ({
    start: one.start,
    end: one.end,
    openStart: one.openStart,
    seconds: one.durationSeconds,
    reason: one.disconnectReason,
  })),
  uptime: body.uptimePercent,
  truncated: body.truncated,
});
const presenceLike = (one: ReturnType<typeof presence>) => ({
  ...one,
  uptime: close(one.uptime),
  sessions: one.sessions.map((session) => ({ ...session, seconds: close(session.seconds) })),
});

/** Asks as a caller and compares every view with the oracle's; rejects where they differ. */
async function compare(devices: readonly OracleDevice[], question: OracleQuestion, isOwner: boolean): Promise<void> {
  const ask = as(isOwner ? site.cast.owner : world.viewer);
  const range = { from: iso(question.from), to: iso(question.to) };
  const query = { ...range, bucket: question.bucket };
  const get = async (path: string, more: Record<string, string> = query): Promise<any> => {
    const { status, body, text } = await ask('GET', `/api/v1/${path}`, { query: more });
    if (status !== 200 || body.pipelineUnavailable !== false) throw new Error(`${path} was answered ${status} ${text}`);
    return body;
  };
  const readable = isOwner ? devices : devices.filter((_, index) => index !== 1);
  const device = readable[1]!;
  const view = await get(`devices/${device.id}/monitoring`);
  const wanted = deviceView(device, question);
  expect(presenceIn(view)).toEqual(presenceLike(wanted.presence));
  expect(sums(view.throughput, (one) => `${one.bucketStart} ${one.experimentId}`)).toEqual(wanted.throughput);
  expect(isSorted(view.throughput, (one) => one.bucketStart)).toBe(true);
  expect(Object.fromEntries(view.battery.map((one: any) => [one.bucketStart, one.averageBattery]))).toEqual(
    Object.fromEntries(Object.entries(wanted.battery).map(([bucket, value]) => [bucket, close(value)])),
  );
  const { firmwareMix, protocolMix, workbookMix, macroMix, ...totals } = view.payload;
  expect(totals).toEqual(wanted.totals);
  expect(sums(firmwareMix, (one) => String(one.version))).toEqual(wanted.firmwareMix);
  expect(sums(protocolMix, (one) => one.protocolId)).toEqual(wanted.protocolMix);
  expect(sums(workbookMix, (one) => String(one.workbookVersionId))).toEqual(wanted.workbookMix);
  expect(sums(macroMix, (one) => String(one.macroId))).toEqual(wanted.macroMix);
  for (const mix of [firmwareMix, protocolMix, workbookMix, macroMix]) expect(isSorted(mix, (one) => -one.count)).toBe(true);
  const runs = (versions: any[]) => versions.map((one) => [one.version, one.firstSeen, one.lastSeen, one.count]);
  expect(runs(view.firmwareHistory)).toEqual(wanted.firmware);
  expect(runs((await get(`devices/${device.id}/firmware-history`)).versions)).toEqual(wanted.firmware);
  expect(
    view.recentMeasurements.map((one: any) => [
      ...[one.timestamp, one.experimentId, one.protocolId, one.workbookVersionId, one.deviceVersion, one.battery],
      ...[one.latitude, one.longitude, one.sample],
    ]),
  ).toEqual(wanted.recent);
  expect((await get(`devices/${device.id}/activity`, {})).lastDataAt).toBe(lastData(device));
  const { experiments } = await get(`devices/${device.id}/experiments/observed`, range);
  const seen = observed(device, question);
  expect(sums(experiments, (one) => String(one.experimentId))).toEqual(seen.counts);
  expect(Object.fromEntries(experiments.map((one: any) => [String(one.experimentId), one.lastAt]))).toEqual(seen.last);
  expect(isSorted(experiments, (one) => -one.count)).toBe(true);

  const eventsIn = (body: any) => body.events.map((one: any) => [one.eventTimestamp, one.deviceId, one.eventType, one.disconnectReason]);
  const lastIn = (list: any[]) => Object.fromEntries(list.map((one) => [one.deviceId, one.lastDataAt]));
  const all = manyDevices(readable, question);
  const fleet = await get('devices/monitoring');
  expect(lastIn(fleet.devices)).toEqual(all.lastData);
  expect(sums(fleet.throughput, (one) => `${one.bucketStart} ${one.deviceId}`)).toEqual(all.throughput);
  expect(isSorted(fleet.throughput, (one) => one.bucketStart)).toBe(true);
  expect(eventsIn(fleet)).toEqual(all.events);
  const members = devices.slice(0, 3).filter((one) => readable.includes(one));
  const few = manyDevices(members, question);
  const group = await get(`device-groups/${world.groupId}/monitoring`);
  expect(lastIn(group.members)).toEqual(few.lastData);
  expect(sums(group.throughput, (one) => `${one.bucketStart} ${one.deviceId}`)).toEqual(few.throughput);
  expect(sums(group.dataByExperiment, (one) => `${one.bucketStart} ${one.experimentId}`)).toEqual(few.byExperiment);
  expect(Object.fromEntries(group.firmware.map((one: any) => [one.deviceId, [one.version, one.lastSeen]]))).toEqual(few.latest);
  expect(eventsIn(group)).toEqual(few.events);
}

const questionOf = (range: Pick<OracleQuestion, 'from' | 'to' | 'bucket'>, isOwner: boolean): OracleQuestion => ({
  ...range,
  now: Date.now() * 1_000,
  reads: (experiment) => isOwner || experiment !== world.experiments[2],
  contributes: (experiment) => isOwner || experiment === world.experiments[1],
});

/** Writes the histories of a made-up world, and answers its devices. */
async function write(made: Made): Promise<OracleDevice[]> {
  const devices = devicesOf(made);
  await writeHistories(world, devices, made.batch);
  return devices;
}

async function compareViews(made: Made, devices: readonly OracleDevice[]): Promise<void> {
  const [first, second] = made.range.map((at) => at - (at % 1_000)).sort((a, b) => a - b) as [number, number];
  const range = { from: START + first, to: START + Math.max(first + 1_000, second), bucket: made.bucket };
  for (const isOwner of [true, false]) await compare(devices, questionOf(range, isOwner), isOwner);
}

const compareMade = async (made: Made): Promise<void> => compareViews(made, await write(made));

test(
  'fleet, device and group views are what an oracle makes of made-up histories, for who reads everything and who does not',
  { timeout: 300_000 + RUNS * 4_000 },
  async () => {
    await fc.assert(fc.asyncProperty(worlds, compareMade), { numRuns: RUNS });
  },
);

test('storms of 10,000 events: the newest 1,000 are shown, and their sessions are those that the oracle finds', async () => {
  const storms = fc.record({
    events: fc.array(event, { minLength: 10_000, maxLength: 10_000, size: 'max' }),
    calm: fc.integer({ min: 1, max: 71 }),
  });
  await fc.assert(
    fc.asyncProperty(storms, async ({ events, calm }) => {
      const devices = world.devices.map(({ id }, index) => ({
        id,
        events: index === 1 ? events : events.slice(index * 40, index * 40 + 20),
        measurements: [],
      }));
      await writeHistories(world, devices, 1);
      // the whole storm, and what is left of it for a range that begins late
      for (const from of [START, START + calm * HOUR, START + 72 * HOUR - 60 * SECOND])
        await compare(devices, questionOf({ from, to: START + 3 * DAY, bucket: 'day' }, true), true);
    }),
    { numRuns: ALL ? 5 : 1, endOnFailure: true },
  );
});

test('a device that was online throughout, through stale disconnects too; and clocks that run ahead count for nothing yet', async () => {
  const minutes = fc.integer({ min: -300, max: 300 }).filter((minute) => Math.abs(minute) > 2);
  const skewed = fc.array(fc.record({ minute: minutes, up: fc.boolean(), session: fc.constantFrom(null, 's1', 's2') }), {
    maxLength: 10,
  });
  await fc.assert(
    fc.asyncProperty(skewed, fc.integer({ min: 10, max: 299 }), fc.integer({ min: -100, max: 299 }), async (told, before, after) => {
      const began = Math.floor(Date.now() / 1_000) * SECOND;
      const at = (minute: number) => began + minute * 60 * SECOND;
      const events = told.map(({ minute, up, session }) => ({ at: at(minute), up, session, reason: null }));
      const throughout = [
        { at: at(-400), up: true, session: 'a', reason: null },
        { at: at(-390), up: true, session: 'b', reason: null },
        { at: at(-380), up: false, session: 'a', reason: 'DUPLICATE_CLIENTID' },
      ];
      const devices = world.devices.map(({ id }, index) => ({ id, events: index === 0 ? throughout : events, measurements: [] }));
      await writeHistories(world, devices, 1);
      const range = { from: at(-before), to: at(Math.max(after, 1 - before)), bucket: 'hour' as const };
      const query = { from: iso(range.from), to: iso(range.to), bucket: 'hour' };
      for (const device of devices.slice(0, 2)) {
        const early = presence(device, { ...questionOf(range, true) });
        const { body } = await site.as(site.cast.owner)('GET', `/api/v1/devices/${device.id}/monitoring`, { query });
        const late = presence(device, { ...questionOf(range, true) });
        const found = presenceIn(body);
        const least = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.min(a, b));
        expect(found.uptime === null).toBe(early.uptime === null);
        if (found.uptime !== null) {
          expect(found.uptime).toBeGreaterThanOrEqual(least(early.uptime, late.uptime)! - 1e-6);
          expect(found.uptime).toBeLessThanOrEqual(Math.max(early.uptime!, late.uptime!) + 1e-6);
        }
        found.sessions.forEach(({ seconds }: { seconds: number }, index: number) => {
          expect(seconds).toBeGreaterThanOrEqual(early.sessions[index]!.seconds - 0.001);
          expect(seconds).toBeLessThanOrEqual(late.sessions[index]!.seconds + 0.001);
        });
        const timeless = ({ sessions, events: shown }: { sessions: any[]; events: unknown }) => [
          shown,
          sessions.map(({ seconds: _, ...rest }) => rest),
        ];
        expect(timeless(found)).toEqual(timeless(early));
        if (device === devices[0]) expect(found).toMatchObject({ events: [], uptime: 100, sessions: [{ end: null, openStart: true }] });
      }
    }),
    { numRuns: RUNS },
  );
});

/** Statements that are wrong: label, what stands there, and what stands there instead. */
type Fault = readonly [label: string, find: RegExp, put: string];
const READ_FAULTS: readonly Fault[] = [
  ['monitoring.throughputOf', /and h\.first_at >= \$\d+ and h\.last_at < \$\d+/, ''],
  ['monitoring.throughputOf', /and d\.day < (\$\d+)/, 'and d.day <= $1'],
  ['monitoring.byExperiment', /'UTC'/g, "'Asia/Tokyo'"],
  [
    'monitoring.byExperiment',
    /left join mine on mine\.id = c\.experiment_id/,
    'left join (select distinct experiment_id as id from c) mine on mine.id = c.experiment_id',
  ],
  ['monitoring.battery', /nullif\(sum\(battery_count\), 0\)/, 'nullif(sum(count), 0)'],
  ['monitoring.totals', /count\(distinct r\.run_id\)/, 'count(r.run_id)'],
  ['monitoring.totals', /and m\.at >= (\$\d+)/, 'and m.at > $1'],
  ['monitoring.versions', /order by min\(first_at\), version/, 'order by version'],
  ['monitoring.latestVersions', /last_at desc/, 'last_at'],
  ['monitoring.observed', /max\(last_at\)/, 'min(last_at)'],
  ['monitoring.lastData', /select max\(hour\)/, 'select min(hour)'],
  ['monitoring.events', /at < (\$\d+)/, 'at <= $1'],
  ['monitoring.events', /ordinal desc limit/, 'ordinal limit'],
  ['monitoring.before', /and \(d\.session is null[^)]*\)/, ''],
  ['monitoring.before', /and event_type = 'connected'/, ''],
  ['monitoring.eventsOf', /order by presence_events\.at desc, presence_events\.ordinal desc/, 'order by presence_events.at'],
  ['monitoring.recent', /a\.can_contribute/, 'a.can_read'],
];
const WRITE_FAULTS: readonly Fault[] = [
  ['measurements.addHours', /count = h\.count \+ excluded\.count/, 'count = excluded.count'],
  ['measurements.addHours', /count = d\.count \+ excluded\.count/, 'count = excluded.count'],
  ['measurements.addHours', /last_at = greatest/, 'last_at = least'],
];

test('the oracle notices each of these faults in the statements', async () => {
  // the same views over the same database, in this process, where a statement can be spoilt on its way
  const context = await site.context();
  const real = context.db;
  const whole = world;
  const spoilt = createServer(createApp(context)).listen(0, '127.0.0.1');
  await once(spoilt, 'listening');
  as = callsTo(`http://127.0.0.1:${(spoilt.address() as AddressInfo).port}`);
  await fc.assert(fc.asyncProperty(worlds, compareMade), { numRuns: 5 });
  const unnoticed = new Set([...READ_FAULTS, ...WRITE_FAULTS]);
  const changed = new Map<Fault, number>();
  /** Does something while a fault is in the statements, and says whether it was noticed. */
  const notices = async (fault: Fault, at: number, act: () => Promise<boolean>): Promise<void> => {
    const [label, find, put] = fault;
    const spoil = (query: Query): Query => {
      if (query.label !== label) return query;
      const text = query.text.replace(find, put);
      if (text !== query.text) changed.set(fault, (changed.get(fault) ?? 0) + 1);
      // a prepared statement of its own
      return { ...query, text, name: `spoilt.${at}.${query.name}`.slice(0, 63) };
    };
    const wrap = <T extends Pick<Database, 'rows' | 'one' | 'run'>>(inner: T): T => ({
      ...inner,
      rows: (query: Query) => inner.rows(spoil(query)),
      one: (query: Query) => inner.one(spoil(query)),
      run: (query: Query) => inner.run(spoil(query)),
    });
    context.db = { ...wrap(real), transaction: (work) => real.transaction((tx) => work(wrap(tx))) };
    world = { ...whole, site: { ...site, db: context.db } };
    const noticed = await act();
    context.db = real;
    world = whole;
    if (noticed && changed.has(fault)) unnoticed.delete(fault);
  };
  // histories are written once for all the faults of reading that none before them has shown
  for (const made of fc.sample(worlds, 60)) {
    const left = READ_FAULTS.filter((fault) => unnoticed.has(fault));
    if (left.length === 0) break;
    const devices = await write(made);
    for (const fault of left)
      await notices(fault, READ_FAULTS.indexOf(fault), () =>
        compareViews(made, devices).then(
          () => false,
          () => true,
        ),
      );
  }
  for (const [at, fault] of WRITE_FAULTS.entries())
    await notices(fault, READ_FAULTS.length + at, async () => {
      const { failed } = await fc.check(fc.asyncProperty(worlds, compareMade), { numRuns: 60, endOnFailure: true });
      return failed;
    });
  as = site.as;
  spoilt.closeAllConnections();
  spoilt.close();
  expect([...unnoticed].map((fault) => `${fault[0]} ${fault[1].source} (${changed.get(fault) ?? 0} statements)`)).toEqual([]);
});
