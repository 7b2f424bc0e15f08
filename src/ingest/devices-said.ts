/** What the devices of a batch said of themselves: the newest of each, instead of all that all of them said. Pure. */
import { clean, digits, FACT_COLUMNS } from './measurement-cells.ts';
import type { MeasurementRow } from './measurements.ts';

/** What a device says of itself, and may say anew with every measurement. */
const SAID: readonly { name: string; of: (row: MeasurementRow) => string | null }[] = [
  ...FACT_COLUMNS.filter(({ name }) => name === 'client_id' || name === 'device_name'),
  { name: 'device_version', of: ({ facts }) => clean(facts.deviceVersion) },
  { name: 'device_battery', of: ({ facts }) => digits(facts.deviceBattery) },
];

/** Columns of `devicesSaid`, behind the row's own. */
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
  measuredAt: string;
  processedAt: string;
  /** Of each of `SAID` what is newest, and when it was said; several that were said at once. */
  newest: { at: string; said: Set<string> }[];
}

function hear(device: Device, row: MeasurementRow): void {
  const at = row.facts.timestamp;
  device.measurements += 1;
  if (at > device.measuredAt) device.measuredAt = at;
  if (row.processedAt > device.processedAt) device.processedAt = row.processedAt;
  for (const [index, newest] of device.newest.entries()) {
    if (at < newest.at) continue;
    const said = SAID[index]?.of(row) ?? null;
    if (said === null) continue;
    if (at > newest.at) device.newest[index] = { at, said: new Set([said]) };
    else newest.said.add(said);
  }
}

/**
 * Of each device one row a time at which it said something that is still the newest: cells of `fieldlake_row` and `DEVICE_COLUMNS`. The first of a device
 * counts for all of its measurements, the others for none.
 */
export function devicesSaid(rows: readonly MeasurementRow[]): (string | null)[][] {
  const devices = new Map<string, Device>();
  // from the end: what is newest is mostly there, and what is older is passed over
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if (!row) continue;
    let device = devices.get(row.deviceRow);
    if (!device) {
      const nothing = SAID.map(() => ({ at: '', said: new Set<string>() }));
      device = { first: row, measurements: 0, measuredAt: '', processedAt: '', newest: nothing };
      devices.set(row.deviceRow, device);
    }
    hear(device, row);
  }
  const cells: (string | null)[][] = [];
  for (const { first, measurements, measuredAt, processedAt, newest } of devices.values()) {
    const of = (said: readonly (string | null)[], at: string, count: number) => {
      const { deviceId, deviceFirmware } = first.facts;
      cells.push([
        String(cells.length),
        ...said,
        ...[first.deviceRow, clean(deviceId), clean(deviceFirmware), at, processedAt, String(count)],
      ]);
    };
    const isLast = newest.map(({ at }) => at === measuredAt);
    of(
      newest.map(({ said }, index) => (isLast[index] === true ? ([...said][0] ?? null) : null)),
      measuredAt,
      measurements,
    );
    for (const [index, { at, said }] of newest.entries())
      for (const value of [...said].slice(isLast[index] === true ? 1 : 0))
        of(
          newest.map((_each, other) => (other === index ? value : null)),
          at,
          0,
        );
  }
  return cells;
}
