import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import {
  ingestMessages,
  listPending,
  reopenMessages,
  storeMessages,
  type NewArrival,
  type ReadMessage,
} from '../../src/ingest/messages/store.ts';
import { decodePayload } from '../../src/ingest/messages/decode/payload.ts';
import { findTable } from '../../src/lakehouse/tables/manifest.queries.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const AT = '2026-05-01T10:00:00.250Z';

/** Stores payloads as a device's and turns every pending message of the experiment into rows. */
async function send(experimentId: string, payloads: readonly (string | object | Buffer)[], more: Partial<NewArrival> = {}) {
  const body = (payload: string | object | Buffer) =>
    payload instanceof Buffer ? payload : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const added = await storeMessages(
    lake.db,
    payloads.map((payload) => ({ experimentId, clientId: 'multispeq_1', body: body(payload), ...more })),
  );
  return { added, reports: await work(experimentId) };
}

async function read(experimentId: string, refused?: string): Promise<ReadMessage[]> {
  const pending = await listPending(lake.db, experimentId, { messages: 10_000, bytes: 50_000_000 });
  return pending.map(({ id, body, ...arrival }) => ({
    id,
    arrival,
    decoded: decodePayload(body ?? Buffer.alloc(0)),
    ...(refused === undefined ? {} : { refused }),
  }));
}
const work = async (experimentId: string, refused?: string) => ingestMessages(lake.deps, experimentId, await read(experimentId, refused));

async function table(experimentId: string, identifier: string): Promise<Record<string, any>[]> {
  const found = await findTable(lake.db, experimentId, identifier);
  return found ? lake.rows(found.id) : [];
}
async function ids(experimentId: string): Promise<string[]> {
  const found = (await findTable(lake.db, experimentId, 'raw_data'))!;
  const result = await lake.reader.runAndReadAll(`select id from ${await lake.relation(found.id)} order by id`);
  return result.getRowObjectsJson().map(({ id }) => id as string);
}

test('of a batch of one id the first that may be stored is, whatever was set aside before it', async () => {
  const experimentId = randomUUID();
  const asking = (count: number) => ({
    ...{ id: 'one', timestamp: '2026-05-01T10:00:00Z', sample: { count } },
    questions: Array.from({ length: count }, (_, n) => ({ question_label: `q${n}`, question_answer: 'a' })),
  });
  const { reports } = await send(experimentId, [asking(2_500), asking(1), asking(0)]);
  expect(reports).toMatchObject([
    { status: 'quarantined', quarantined: 1, stored: 0, reasons: { 'too-many-questions': 1 } },
    { status: 'stored', stored: 1, quarantined: 0 },
    { status: 'stored', stored: 0, alreadyThere: 1 },
  ]);
  expect(await table(experimentId, 'raw_data')).toMatchObject([{ data: '{"count":1}', q0: 'a' }]);
});

describe('a measurement', () => {
  test('becomes one row of raw_data with its facts, local time, sample and answers', async () => {
    const experimentId = randomUUID();
    const user = randomUUID();
    const sample = '{"phi2":0.71, "id":12345678901234567890, "deep":{"a b":[1,2]}}';
    const { reports } = await send(experimentId, [
      {
        timestamp: '2026-05-01T12:00:00.250+02:00',
        timezone: 'Europe/Amsterdam',
        sample,
        protocol_id: 'p-1',
        workbook_run_id: 'run-1',
        device_id: 'aa:bb',
        device_name: 'Speq "one", Ü',
        device_firmware: '2.1',
        device_battery: 81,
        latitude: 51.98,
        longitude: 5.66,
        user_id: user,
        macros: [{ id: 'm-1', name: 'Phi', filename: 'phi.py' }],
        questions: [
          { question_label: 'Plot №', question_text: 'Which plot?', question_answer: '003' },
          { question_label: 'Timestamp', question_text: 'When?', question_answer: 'now' },
          { question_label: '2nd leaf', question_text: '', question_answer: '' },
          { question_label: 'plot', question_text: 'And the second?', question_answer: '=1+1' },
        ],
      },
    ]);
    expect(reports).toMatchObject([{ status: 'stored', stored: 1, quarantined: 0, alreadyThere: 0 }]);
    const [row] = await table(experimentId, 'raw_data');
    expect(row).toMatchObject({
      device_id: 'aa:bb',
      device_name: 'Speq "one", Ü',
      timestamp: '2026-05-01 10:00:00.25+00',
      measurement_time_utc: '2026-05-01 10:00:00.25+00',
      timezone: 'Europe/Amsterdam',
      date: '2026-05-01',
      macros: [{ id: 'm-1', name: 'Phi', filename: 'phi.py' }],
      protocol_id: 'p-1',
      workbook_run_id: 'run-1',
      latitude: 51.98,
      longitude: 5.66,
      data: sample,
      measurement_time_local: '2026-05-01 12:00:00',
      local_time: '12:00',
      client_id: 'multispeq_1',
      plot: '003',
      question_timestamp: 'now',
      question_2nd_leaf: '',
      plot__and_the_second: '=1+1',
    });
    const catalogue = await lake.db.rows(sql('test')`select c.name, c.origin, c.original_key as key, c.type from lake_columns c
      join lake_tables t on t.id = c.table_id where t.experiment_id = ${experimentId} order by ordinal`);
    expect(catalogue).toEqual([
      { name: 'plot', origin: 'question', key: 'Plot №', type: 'STRING' },
      { name: 'question_timestamp', origin: 'question', key: 'Timestamp', type: 'STRING' },
      { name: 'question_2nd_leaf', origin: 'question', key: '2nd leaf', type: 'STRING' },
      { name: 'plot__and_the_second', origin: 'question', key: 'plot', type: 'STRING' },
    ]);
  });

  test('without a zone that exists has no local time, and without a sample keeps its answers', async () => {
    const experimentId = randomUUID();
    await send(experimentId, [
      { timestamp: AT, timezone: 'Mars/Olympus', questions: [{ question_label: 'a', question_answer: 'b' }] },
      { timestamp: AT, sample: '{"x":1}' },
    ]);
    const rows = await table(experimentId, 'raw_data');
    expect(rows).toHaveLength(2);
    for (const row of rows) expect(row).toMatchObject({ timezone: null, measurement_time_local: null, local_time: null });
    expect(rows.map(({ a, data }) => ({ a, data }))).toEqual(
      expect.arrayContaining([
        { a: 'b', data: null },
        { a: null, data: '{"x":1}' },
      ]),
    );
  });

  test('is every element of a burst, in order, also packed', async () => {
    const experimentId = randomUUID();
    const burst = [{ n: 0 }, { n: 1 }, { n: 2 }];
    const packed = gzipSync(JSON.stringify(burst)).toString('base64');
    const { reports } = await send(experimentId, [
      { timestamp: AT, sample: burst },
      { timestamp: AT, sample: packed, _sample_encoding: 'gzip+base64' },
    ]);
    expect(reports.map(({ stored }) => stored)).toEqual([3, 3]);
    const rows = await table(experimentId, 'raw_data');
    expect(rows.map(({ data }) => JSON.parse(data as string).n)).toEqual([0, 1, 2, 0, 1, 2]);
    expect(new Set((await ids(experimentId)).map((id) => id.slice(0, 20))).size).toBe(2);
    expect((await ids(experimentId)).every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  });
});

describe('the same measurement', () => {
  test('sent ten times in parallel is there once', async () => {
    const experimentId = randomUUID();
    const message = { timestamp: AT, device_id: 'd', sample: [{ n: 0 }, { n: 1 }] };
    const runs = await Promise.all(Array.from({ length: 10 }, () => send(experimentId, [message])));
    expect(runs.flatMap(({ added }) => added)).toHaveLength(1);
    expect(runs.flatMap(({ reports }) => reports)).toMatchObject([{ stored: 2 }]);
    expect(await table(experimentId, 'raw_data')).toHaveLength(2);
    expect(await table(experimentId, 'device')).toMatchObject([{ device_id: 'd', total_measurements: '2' }]);
  });

  test('by its own id, in another envelope, is already there; from another client it is another', async () => {
    const experimentId = randomUUID();
    await send(experimentId, [{ id: 'one', timestamp: AT, sample: '{"n":1}' }]);
    const again = await send(experimentId, [
      [
        { id: 'one', timestamp: AT, sample: '{"n":1}' },
        { id: 'two', timestamp: AT },
        { id: 'two', timestamp: AT },
      ],
    ]);
    expect(again.reports).toMatchObject([{ status: 'stored', stored: 1, alreadyThere: 2, quarantined: 0 }]);
    const other = await send(experimentId, [{ id: 'one', timestamp: AT, sample: '{"n":1}' }], { clientId: 'multispeq_2' });
    expect(other.reports).toMatchObject([{ stored: 1 }]);
    expect(await table(experimentId, 'raw_data')).toHaveLength(3);
  });

  test('handled by five workers at once is counted once, in the device table too', async () => {
    const experimentId = randomUUID();
    const messages = Array.from({ length: 60 }, (_, n) => ({
      experimentId,
      clientId: 'c',
      body: Buffer.from(JSON.stringify({ timestamp: AT, device_id: `d${n % 3}`, sample: { n } })),
    }));
    await storeMessages(lake.db, messages);
    const reports = (await Promise.all(Array.from({ length: 5 }, () => work(experimentId)))).flat();
    expect(reports).toHaveLength(60);
    expect(await table(experimentId, 'raw_data')).toHaveLength(60);
    expect((await table(experimentId, 'device')).map(({ total_measurements: total }) => total)).toEqual(['20', '20', '20']);
  });
});

describe('what cannot be stored', () => {
  test('is counted with its reason beside what is stored, and waits', async () => {
    const experimentId = randomUUID();
    const good = { timestamp: AT, sample: { n: 1 } };
    expect((await send(experimentId, [good])).reports).toMatchObject([{ status: 'stored', stored: 1 }]);
    const mixed = [{ ...good, id: 'a' }, { sample: { n: 2 } }, { timestamp: 'yesterday' }, { timestamp: AT, sample: '{' }, 17];
    const { reports } = await send(experimentId, [mixed, '{"timestamp":', Buffer.from([0x1f, 0x8b, 1])]);
    expect(reports).toMatchObject([
      {
        status: 'partial',
        stored: 1,
        quarantined: 4,
        reasons: { 'timestamp-missing': 1, 'timestamp-invalid': 1, 'sample-invalid': 1, 'not-an-object': 1 },
      },
      { status: 'quarantined', quarantined: 1, reasons: { 'json-invalid': 1 } },
      { status: 'quarantined', quarantined: 1, reasons: { 'gzip-invalid': 1 } },
    ]);
    expect(await table(experimentId, 'raw_data')).toHaveLength(2);
  });

  test('comes in, exactly once, when the reason is gone', async () => {
    const experimentId = randomUUID();
    await storeMessages(
      lake.db,
      [0, 1].map((n) => ({ experimentId, body: Buffer.from(JSON.stringify([{ timestamp: AT, id: `${n}` }, {}])) })),
    );
    expect(await work(experimentId, 'archived')).toMatchObject([
      { status: 'quarantined', quarantined: 2, reasons: { archived: 2 } },
      { status: 'quarantined', quarantined: 2 },
    ]);
    expect(await table(experimentId, 'raw_data')).toHaveLength(0);
    for (let time = 0; time < 2; time += 1) {
      expect(await reopenMessages(lake.db, experimentId)).toBe(2);
      await work(experimentId);
      expect(await table(experimentId, 'raw_data')).toHaveLength(2);
    }
    const counts = await lake.db.rows(
      sql('test')`select status, stored, quarantined, already_there as there, reasons from messages where experiment_id = ${experimentId}`,
    );
    expect(counts).toEqual(Array(2).fill({ status: 'partial', stored: 1, quarantined: 1, there: 0, reasons: { 'timestamp-missing': 1 } }));
  });
});

describe('the device table', () => {
  test('keeps the newest of what a device said, one row for each firmware', async () => {
    const experimentId = randomUUID();
    const say = (minute: number, firmware: string, more: object) => ({
      timestamp: `2026-05-01T10:${String(minute).padStart(2, '0')}:00Z`,
      device_id: 'd',
      device_firmware: firmware,
      ...more,
    });
    await send(experimentId, [say(1, '1.0', { device_name: 'old', device_battery: 90 }), say(5, '1.1', { device_name: 'new' })]);
    await send(experimentId, [say(3, '1.1', { device_name: 'late', device_battery: 70 }), say(9, '1.0', { device_battery: 20 })]);
    const rows = await table(experimentId, 'device');
    expect(rows.sort((a, b) => (a['device_firmware'] < b['device_firmware'] ? -1 : 1))).toMatchObject([
      { device_id: 'd', device_firmware: '1.0', device_name: 'old', device_battery: 20, total_measurements: '2' },
      { device_id: 'd', device_firmware: '1.1', device_name: 'new', device_battery: 70, total_measurements: '2' },
    ]);
  });
});

describe('delivered macro outputs', () => {
  test('go to a table of their macro, with typed columns that never hide a base column', async () => {
    const experimentId = randomUUID();
    const macroId = randomUUID();
    const macro = (output: unknown, more: object = {}) => ({ macros: [{ id: macroId, name: 'Phi', filename: 'phi.py', output, ...more }] });
    const first = {
      timestamp: AT,
      device_id: 'd',
      timezone: 'UTC',
      ...macro({ Phi2: 1, timestamp: 'later', 'a "b"`.,ü': true, Id: 7, nothing: null, big: 0 }),
    };
    await send(experimentId, [JSON.stringify(first).replace('"big":0', '"big":12345678901234567890')]);
    const { reports } = await send(experimentId, [
      {
        timestamp: '2026-05-01T10:05:00Z',
        sample: [{}, {}],
        ...macro([
          { Phi2: 0.5, phi2: 'x' },
          { Phi2: 'n/a', nothing: [1] },
        ]),
      },
      { timestamp: '2026-05-01T10:06:00Z', ...macro(null, { error: 'division by zero' }) },
    ]);
    expect(reports.map(({ stored }) => stored)).toEqual([2, 1]);
    const rows = (await table(experimentId, macroId)).sort((a, b) => (String(a['timestamp']) < String(b['timestamp']) ? -1 : 1));
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatchObject({
      device_id: 'd',
      macro_name: 'Phi',
      macro_filename: 'phi.py',
      macro_error: null,
      local_time: '10:00',
      date: '2026-05-01',
    });
    expect(rows[0]).toMatchObject({ Phi2: 1, output_timestamp: 'later', 'a "b"`.,ü': true, output_Id: 7 });
    expect(rows[0]!['big']).toBe('12345678901234567890');
    const middle = rows.slice(1, 3);
    expect(middle.map((row) => [row['Phi2'], row['Phi2__text'], row['phi2_2']])).toEqual(
      expect.arrayContaining([
        [0.5, null, 'x'],
        [null, 'n/a', null],
      ]),
    );
    expect(rows[3]).toMatchObject({ macro_error: 'division by zero', Phi2: null });
    const raw = await ids(experimentId);
    expect(rows.map((row) => row['raw_id']).sort()).toEqual(raw);
  });
});
