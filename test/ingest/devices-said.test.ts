import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEVICE_COLUMNS, printDevices } from '../../src/ingest/messages/devices.ts';
import { hashMessage, makeDeviceHasher } from '../../src/ingest/messages/ids.ts';
import { makeMeasurementRows, type MeasurementRow } from '../../src/ingest/messages/rows.ts';
import { fill, loadPipelines, type Pipelines } from '../../src/ingest/pipeline.ts';
import { readPayload } from '../../src/ingest/messages/decode/payload.ts';
import { seedRandomTests } from '../support/random.ts';

const EXPERIMENT = '0190a0a0-0000-7000-8000-000000000001';
let instance: DuckDBInstance;
let connection: DuckDBConnection;
let pipelines: Pipelines;
beforeAll(seedRandomTests);
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
  await connection.run(`set timezone = 'UTC'`);
  await connection.run(`set variable experiment_id = '${EXPERIMENT}'`);
  pipelines = await loadPipelines(join(import.meta.dirname, '..', '..', 'pipelines'));
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const said = fc.option(fc.constantFrom('a', 'b', 'Leaf 1', 'ü', '\u{1f331}', '\uffee', '\0'));
const message = fc.record({
  id: fc.uuid(),
  timestamp: fc
    .tuple(
      fc.constantFrom('2026', '2026', '1700', '1999', '9999'),
      fc.integer({ min: 0, max: 3 }),
      fc.constantFrom('', '.5', '.500', '.000001', '.123456'),
    )
    .map(([year, second, fraction]) => `${year}-05-01T00:00:0${second}${fraction}Z`),
  device_id: fc.option(fc.constantFrom('one', 'two', 'three')),
  device_firmware: fc.option(fc.constantFrom('1', '2')),
  device_name: said,
  device_version: said,
  device_battery: fc.option(fc.constantFrom(0, 9, 10, 12.5, -1)),
  sample: fc.constantFrom<unknown>({ n: 1 }, [{ n: 1 }, { n: 2 }]),
});
const arrival = fc.record({ clientId: said, seconds: fc.integer({ min: 0, max: 3 }) });

function rowsOf(sent: readonly (readonly [object, { clientId: string | null; seconds: number }])[]): MeasurementRow[] {
  const deviceRow = makeDeviceHasher(EXPERIMENT);
  return sent.flatMap(([body, { clientId, seconds }]) => {
    const came = { clientId, userId: null, protocolId: null, arrivedAt: new Date(Date.UTC(2026, 5, 1, 0, 0, seconds)) };
    return readPayload(Buffer.from(JSON.stringify(body))).flatMap((one) => {
      if (one.kind !== 'measurement') throw new Error(one.reason);
      const rows = makeMeasurementRows({ source: hashMessage(EXPERIMENT, came, one), deviceRow }, came, one);
      if (typeof rows === 'string') throw new Error(rows);
      return rows;
    });
  });
}

async function deviceTable(columns: readonly string[], cells: readonly (readonly (string | null)[])[], measurements: string) {
  const literal = (cell: string | null) => (cell === null ? 'null::varchar' : `'${cell.replaceAll("'", "''")}'`);
  const values = cells.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
  await connection.run(`create or replace temp view bronze_records as select * from (values ${values}) as t(${columns.join(', ')})`);
  const step = fill(pipelines.deviceRows, { known: 'select null::varchar as id where false', measurements });
  return (await connection.runAndReadAll(`select * from (${step.sql}) order by id`)).getRowObjectsJson();
}

const clean = (text: string | null) => text?.replaceAll('\0', '\ufffd') ?? null;

test('what is kept of what devices said makes the table of devices that all of it makes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(message, arrival), { minLength: 1, maxLength: 30 }), async (sent) => {
      const rows = rowsOf(sent);
      const all = rows.map((row) => [
        ...[row.deviceRow, clean(row.facts.deviceId), clean(row.clientId), clean(row.facts.deviceFirmware), clean(row.facts.deviceName)],
        clean(row.facts.deviceVersion),
        ...[row.facts.deviceBattery === null ? null : String(row.facts.deviceBattery), row.processedAt, row.facts.timestamp],
      ]);
      const every = 'device_row device_id client_id device_firmware device_name device_version device_battery processed_at measured_at';
      const whole = await deviceTable(every.split(' '), all, '1');
      expect(await deviceTable(['fieldlake_row', ...DEVICE_COLUMNS], printDevices(rows), 'measurements')).toEqual(whole);
    }),
    { numRuns: 200 },
  );
});

test('many measurements of a device are one row of what it said', () => {
  const sent = Array.from({ length: 1_000 }, (_, n) => {
    const at = new Date(Date.UTC(2026, 4, 1) + n * 1_000).toISOString();
    const body = { id: `m${n}`, timestamp: at, device_id: `d${n % 4}`, device_name: `Leaf ${n % 4}`, sample: { n } };
    return [body, { clientId: 'c', seconds: 0 }] as const;
  });
  const cells = printDevices(rowsOf(sent));
  expect(cells.map((row) => row.at(-1))).toEqual(['250', '250', '250', '250']);
  expect(cells.map((row) => row[1 + DEVICE_COLUMNS.indexOf('measured_at')])).toContain('2026-05-01T00:16:39.000000Z');
});

test('the identity of a message is what it has been since the first one was stored', () => {
  const identity = (sender: string, what: string) => hash('sha256', JSON.stringify(['message', EXPERIMENT, sender, what])).slice(0, 20);
  fc.assert(
    fc.property(
      fc.option(fc.oneof({ arbitrary: fc.string({ unit: 'binary' }), weight: 9 }, fc.string({ minLength: 900, maxLength: 1_100 }))),
      fc.option(fc.uuid()),
      fc.option(fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 190 }))),
      fc.string(),
      (clientId, userId, ownId, sha256) => {
        const is = identity(userId ?? clientId ?? '', ownId ?? sha256);
        expect(hashMessage(EXPERIMENT, { clientId, userId }, { ownId, sha256 })).toBe(is);
        const body = Buffer.from(JSON.stringify({ id: ownId, timestamp: '2026-05-01T00:00:00Z' }));
        for (const one of readPayload(body))
          if (one.kind === 'measurement' && one.ownId !== null) expect(hashMessage(EXPERIMENT, { clientId, userId }, one)).toBe(is);
      },
    ),
  );
});
