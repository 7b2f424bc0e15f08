import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { drainMessages } from '../../src/ingest/messages/drain.ts';
import { storeMessages, type MeasurementRow, type MessageReport } from '../../src/ingest/messages/store.ts';
import { decodePayload, readPayload } from '../../src/ingest/messages/decode/payload.ts';
import { seedRandomTests } from '../support/random.ts';
import { hostileBytes, messageText } from '../support/messages.ts';
import { openLake, type Lake } from './setup.ts';

// the same experiment in two lakes: one takes every message apart, one looks at bytes where that is enough
let lakes: [long: Lake, short: Lake];
beforeAll(async () => {
  seedRandomTests();
  lakes = [await openLake(), await openLake()];
});
afterAll(() => Promise.all(lakes.map((lake) => lake.close())));

interface Sent {
  bytes: Buffer;
  clientId: string | null;
  userId: string | null;
  protocolId: string | null;
}

const USERS = [randomUUID(), randomUUID()];
const sent = fc.record<Sent>({
  bytes: fc.oneof({ weight: 5, arbitrary: messageText().map((text) => Buffer.from(text)) }, { weight: 1, arbitrary: hostileBytes() }),
  clientId: fc.constantFrom('multispeq_1', 'multispeq_2', 'odd, "one"', null),
  userId: fc.constantFrom(null, null, ...USERS),
  protocolId: fc.constantFrom(null, null, 'leaf', 'from, topic'),
});

/** Everything that came of messages in one lake; of processing times nothing. */
async function outcome(lake: Lake, experimentId: string, messages: readonly Sent[], decode: typeof readPayload) {
  for (let at = 0; at < messages.length; at += 100)
    await storeMessages(
      lake.db,
      messages.slice(at, at + 100).map(({ bytes, ...sender }) => ({ experimentId, ...sender, body: bytes })),
    );
  const reports = new Map<string, MessageReport>();
  const watched: unknown[] = [];
  let plain = 0;
  const alongside = (_tx: unknown, _id: string, stored: readonly (readonly MeasurementRow[])[]) => {
    // as who counts them does
    for (const [row] of stored) {
      if (row?.plain) plain += 1;
      const { timestamp, latitude, longitude, deviceBattery, deviceFirmware, deviceVersion, protocolId, workbookVersionId, workbookRunId } =
        row!.facts;
      watched.push([
        row!.id,
        row!.clientId,
        row!.contributorId,
        row!.data,
        row!.macros,
        row!.toRun,
        timestamp,
        latitude,
        longitude,
        deviceBattery,
      ]);
      watched.push([deviceFirmware, deviceVersion, protocolId, workbookVersionId, workbookRunId]);
    }
    return Promise.resolve();
  };
  await drainMessages({ ...lake.deps, alongside }, experimentId, {
    most: 150,
    read: (pending) =>
      Promise.resolve(pending.map((message) => ({ id: message.id, arrival: message, decoded: decode(message.body ?? Buffer.alloc(0)) }))),
    onReports: (some) => {
      for (const report of some) reports.set(report.id, report);
    },
  });
  const kept = await lake.db.rows<{
    id: string;
    source: string;
    status: string;
    stored: number;
    quarantined: number;
    there: number;
    reasons: unknown;
  }>(
    sql('test.inbox')`select id, encode(source, 'hex') as source, status, stored, quarantined, already_there as there, reasons
      from inbox where experiment_id = ${experimentId} order by ordinal`,
  );
  const inbox = kept.map(({ id, ...one }) => ({ ...one, report: { ...reports.get(id), id: undefined } }));
  const tables = await lake.db.rows<{ id: string; kind: string; identifier: string; version: number }>(
    sql(
      'test.tables',
    )`select id, kind, identifier, version from lake_tables where experiment_id = ${experimentId} order by kind, identifier`,
  );
  const columns = await lake.db.rows(sql(
    'test.columns',
  )`select t.identifier, c.name, c.type, c.origin, c.original_key, c.has_values, c.ordinal, c.since_version
    from lake_columns c join lake_tables t on t.id = c.table_id where t.experiment_id = ${experimentId} order by t.identifier, c.ordinal, c.since_version`);
  const sources = await lake.db.rows(sql('test.sources')`select encode(s.source, 'hex') as source, s.row_count, s.version
    from lake_sources s join lake_tables t on t.id = s.table_id where t.experiment_id = ${experimentId} order by t.identifier, s.source`);
  const rows: Record<string, unknown> = {};
  for (const { id, kind, identifier } of tables) {
    const relation = await lake.relation(id);
    const result =
      relation === undefined
        ? undefined
        : await lake.reader.runAndReadAll(`select * exclude (processed_timestamp) from ${relation} order by id`);
    const shape = result?.columnNames().map((name, at) => `${name} ${result.columnType(at).toString()}`);
    if (kind === 'raw_data') {
      const wrong = await lake.reader
        .runAndReadAll(`select id from ${relation ?? ''} where local_time is distinct from strftime(timestamp at time zone timezone, '%H:%M')
        or measurement_time_local is distinct from strftime(timestamp at time zone timezone, '%Y-%m-%d %H:%M:%S')`);
      expect(wrong.getRowObjectsJson()).toEqual([]);
    }
    rows[`${kind} ${identifier}`] = { shape, rows: result?.getRowObjectsJson() };
  }
  const files = await lake.db.rows(sql(
    'test.files',
  )`select t.identifier, f.row_count, f.min_key, f.max_key, f.min_id, f.max_id from lake_files f
    join lake_tables t on t.id = f.table_id where t.experiment_id = ${experimentId} and t.kind = 'raw_data' order by f.min_key, f.min_id`);
  return { plain, said: { inbox, watched, tables: tables.map(({ id: _, ...table }) => table), columns, sources, rows, files } };
}

test('messages come to the same rows, ids, reports and columns whichever way they are read', async () => {
  for (const messages of fc.sample(fc.array(sent, { minLength: 250, maxLength: 320 }), 3)) {
    const experimentId = randomUUID();
    const long = await outcome(lakes[0], experimentId, messages, decodePayload);
    const short = await outcome(lakes[1], experimentId, messages, readPayload);
    expect(short.said).toEqual(long.said);
    expect(long.plain).toBe(0);
    expect(short.plain).toBeGreaterThan(20);
  }
});

test('a batch of plain messages alone comes to the same, columns included that none of them has', async () => {
  const messages = Array.from({ length: 400 }, (_, n): Sent => ({
    bytes: Buffer.from(
      JSON.stringify({
        id: `m-${n}`,
        timestamp: new Date(Date.UTC(2026, 2, 29, 0, n)).toISOString(),
        timezone: ['Europe/Amsterdam', 'Asia/Kathmandu', 'Nowhere/Land'][n % 3],
        device_id: `multispeq-${n % 7}`,
        latitude: 51 + n / 1_000,
        sample: { phi2: n / 777, trace: [n, 2 * n] },
      }),
    ),
    ...{ clientId: 'multispeq_1', userId: null, protocolId: null },
  }));
  const experimentId = randomUUID();
  const long = await outcome(lakes[0], experimentId, messages, decodePayload);
  const short = await outcome(lakes[1], experimentId, messages, readPayload);
  expect(short.said).toEqual(long.said);
  expect(short.plain).toBe(400);
  const raw = short.said.rows['raw_data raw_data'] as { rows: Record<string, unknown>[] };
  expect(raw.rows).toHaveLength(400);
  expect(raw.rows.find(({ timestamp }) => timestamp === '2026-03-29 01:00:00+00')).toMatchObject({
    timezone: 'Europe/Amsterdam',
    measurement_time_local: '2026-03-29 03:00:00',
    local_time: '03:00',
    device_name: null,
    macros: null,
  });
});
