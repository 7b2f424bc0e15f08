/** What the devices of a batch said of themselves. Only the newest of each device is kept. Pure. */
import { clean, readDigits } from './cells.ts';
import type { MeasurementRow } from './rows.ts';

/** What a device says of itself, and may say anew with every measurement. */
const SAID: readonly { name: string; of: (row: MeasurementRow) => string | null }[] = [
  // a person's client id holds their user id, which no reader of an anonymised experiment may see
  { name: 'client_id', of: ({ clientId, senderId }) => (senderId === null ? clean(clientId) : null) },
  { name: 'device_name', of: ({ facts }) => clean(facts.deviceName) },
  { name: 'device_version', of: ({ facts }) => clean(facts.deviceVersion) },
  { name: 'device_battery', of: ({ facts }) => readDigits(facts.deviceBattery) },
];

/** Columns of `printDevices`, after the number of the row. */
export const DEVICE_COLUMNS: readonly string[] = [
  ...SAID.map(({ name }) => name),
  'device_row',
  'device_id',
  'device_firmware',
  'measured_at',
  'processed_at',
  'measurements',
];

interface Device {
  first: MeasurementRow;
  measurements: number;
  /** The newest measurement. */
  last: MeasurementRow;
  time: number;
  processedAt: string;
  /** The newest value of each of `SAID`, and the row that said it; several values when they were said at the same time. */
  newest: { time: number; row: MeasurementRow; said: Map<string, MeasurementRow> }[];
}

const ZERO = 0x30;
const DIGITS_OF_SECOND = 6;

/**
 * Answers a number that puts instants in order: microseconds since 2000, as if each month had 31 days. It is exact for 280 years before and after. `bytes`
 * holds an instant in UTC from `start` to `end`, with all digits before its point and any number after it.
 */
function timeIn(bytes: Buffer, start: number, end: number): number {
  const digit = (at: number) => (bytes[start + at] as number) - ZERO;
  const two = (at: number) => digit(at) * 10 + digit(at + 1);
  const days = ((two(0) * 100 + two(2) - 2_000) * 12 + two(5)) * 31 + two(8);
  let parts = 0;
  let missing = DIGITS_OF_SECOND;
  for (let at = start + 20; at < end - 1; at += 1, missing -= 1) parts = parts * 10 + (bytes[at] as number) - ZERO;
  for (; missing > 0; missing -= 1) parts *= 10;
  return (((days * 24 + two(11)) * 60 + two(14)) * 60 + two(17)) * 1e6 + parts;
}

function timeOf({ plain, facts }: MeasurementRow): number {
  if (!plain) return timeIn(Buffer.from(facts.timestamp, 'latin1'), 0, facts.timestamp.length);
  const place = plain.placeOf('timestamp');
  return timeIn(plain.bytes, plain.spans[place] ?? 0, plain.spans[place + 1] ?? 0);
}

/** Compares the times of two rows: above 0 when `row` was measured later than `otherRow`, 0 at the same time, below 0 earlier. */
function after(time: number, row: MeasurementRow, other: number, otherRow: MeasurementRow): number {
  if (time !== other || Math.abs(time) <= Number.MAX_SAFE_INTEGER) return time - other;
  const [one, than] = [row.facts.timestamp, otherRow.facts.timestamp];
  return one === than ? 0 : one > than ? 1 : -1;
}

function hear(device: Device, row: MeasurementRow): void {
  const time = timeOf(row);
  device.measurements += 1;
  if (after(time, row, device.time, device.last) > 0) [device.time, device.last] = [time, row];
  if (row.processedAt > device.processedAt) device.processedAt = row.processedAt;
  for (let at = 0; at < SAID.length; at += 1) {
    const newest = device.newest[at] as Device['newest'][number];
    const later = after(time, row, newest.time, newest.row);
    if (later < 0) continue;
    const said = (SAID[at] as (typeof SAID)[number]).of(row);
    if (said === null) continue;
    if (later > 0) device.newest[at] = { time, row, said: new Map([[said, row]]) };
    else newest.said.set(said, row);
  }
}

/**
 * Prints the rows of each device, as cells of `fieldlake_row` and `DEVICE_COLUMNS`: one with what its newest measurement said, and one for each further value
 * that is the newest of its kind. The first row of a device counts all of its measurements, the others count none.
 */
export function printDevices(rows: readonly MeasurementRow[]): (string | null)[][] {
  const devices = new Map<string, Device>();
  // from the end, where the newest values mostly are; older values are then passed over
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if (!row) continue;
    let device = devices.get(row.deviceRow);
    if (!device) {
      const newest = SAID.map(() => ({ time: -Infinity, row, said: new Map<string, MeasurementRow>() }));
      device = { first: row, measurements: 0, last: row, time: -Infinity, processedAt: '', newest };
      devices.set(row.deviceRow, device);
    }
    hear(device, row);
  }
  const cells: (string | null)[][] = [];
  for (const { first, measurements, last, time, processedAt, newest } of devices.values()) {
    const of = (said: readonly (string | null)[], { facts }: MeasurementRow, count: number) => {
      const { deviceId, deviceFirmware } = first.facts;
      cells.push([
        String(cells.length),
        ...said,
        ...[first.deviceRow, clean(deviceId), clean(deviceFirmware), facts.timestamp, processedAt, String(count)],
      ]);
    };
    const isLast = newest.map((each) => after(each.time, each.row, time, last) === 0);
    of(
      newest.map(({ said }, index) => (isLast[index] === true ? ([...said.keys()][0] ?? null) : null)),
      last,
      measurements,
    );
    for (const [index, { said }] of newest.entries())
      for (const [value, by] of [...said].slice(isLast[index] === true ? 1 : 0))
        of(
          newest.map((_each, other) => (other === index ? value : null)),
          by,
          0,
        );
  }
  return cells;
}
