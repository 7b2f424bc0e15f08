/** The measurements of a batch → one file of text cells: values of plain messages as their bytes stand, others from what was made of them. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { MeasurementRow, PlainOrder } from './measurements.ts';
import { BufferedFile, RARE_QUOTE } from './record-writer.ts';

const number = (value: number | null) => (value === null ? null : String(value));
export const clean = (value: string | null) => (value?.includes('\0') === true ? value.replaceAll('\0', '\ufffd') : value);

const ORDER: PlainOrder = [
  'timestamp',
  'deviceId',
  'deviceName',
  'timezone',
  'latitude',
  'longitude',
  'workbookRunId',
  'protocolId',
  'sample',
  'deviceFirmware',
  'deviceVersion',
  'deviceBattery',
  'workbookVersionId',
];
const NO_PLACE = -1;

interface CellColumn {
  name: string;
  /** Of its value among the spans of a plain message; `NO_PLACE` for what is not written in it. */
  place: number;
  of: (row: MeasurementRow) => string | null;
}

const column = (name: string, plain: PlainOrder[number] | undefined, of: CellColumn['of']): CellColumn => ({
  name,
  place: plain === undefined ? NO_PLACE : ORDER.indexOf(plain) * 2,
  of,
});

const PROTOCOL = column('protocol_id', 'protocolId', (row) => clean(row.plain?.topicProtocolId ?? row.facts.protocolId));
const ZONE = column('timezone', 'timezone', ({ facts }) => clean(facts.timezone));

/** Every column that is there without any question. */
const COLUMNS: readonly CellColumn[] = [
  column('measured_at', 'timestamp', ({ facts }) => facts.timestamp),
  column('device_id', 'deviceId', ({ facts }) => clean(facts.deviceId)),
  column('device_name', 'deviceName', ({ facts }) => clean(facts.deviceName)),
  ZONE,
  column('latitude', 'latitude', ({ facts }) => number(facts.latitude)),
  column('longitude', 'longitude', ({ facts }) => number(facts.longitude)),
  column('workbook_run_id', 'workbookRunId', ({ facts }) => clean(facts.workbookRunId)),
  column('contributor_id', undefined, ({ contributorId }) => contributorId),
  column('client_id', undefined, ({ clientId }) => clean(clientId)),
  column('processed_at', undefined, ({ processedAt }) => processedAt),
  column('macros', undefined, ({ macros }) => clean(macros)),
  PROTOCOL,
  column('data', 'sample', ({ data }) => data),
  column('device_row', undefined, ({ deviceRow }) => deviceRow),
  column('device_firmware', 'deviceFirmware', ({ facts }) => clean(facts.deviceFirmware)),
  column('device_version', 'deviceVersion', ({ facts }) => clean(facts.deviceVersion)),
  column('device_battery', 'deviceBattery', ({ facts }) => number(facts.deviceBattery)),
  column('workbook_version_id', 'workbookVersionId', ({ facts }) => clean(facts.workbookVersionId)),
  column('macro_context', undefined, (row) => (row.plain ? null : clean(row.facts.macroContext))),
];

const isPlain = ({ place }: CellColumn, row: MeasurementRow): boolean =>
  place !== NO_PLACE && row.plain !== undefined && !(place === PROTOCOL.place && row.plain.topicProtocolId !== null);

const has = (one: CellColumn, row: MeasurementRow): boolean =>
  row.plain && isPlain(one, row) ? (row.plain.spans[row.plain.from + one.place] ?? 0) > 0 : one.of(row) !== null;

/** Different zones that are looked for. */
const MOST_ZONES = 16;

/** The zones that rows name, up to so many. */
function zonesOf(rows: readonly MeasurementRow[]): string[] {
  const zones = new Set<string>();
  /** The zone of the row before, as it stands there. */
  let last: Buffer | undefined;
  for (const row of rows) {
    if (zones.size >= MOST_ZONES) break;
    const { plain } = row;
    if (!plain) {
      if (row.facts.timezone !== null) zones.add(row.facts.timezone);
      continue;
    }
    const start = plain.spans[plain.from + ZONE.place] ?? 0;
    const end = plain.spans[plain.from + ZONE.place + 1] ?? 0;
    if (start === 0 || (last?.length === end - start && last.compare(plain.bytes, start, end) === 0)) continue;
    last = plain.bytes.subarray(start, end);
    zones.add(last.toString('utf8'));
  }
  return [...zones];
}

/** What was written of a batch. */
export interface WrittenCells {
  path: string;
  /** Of the file, in order; `fieldlake_row` comes before them. */
  columns: readonly string[];
  /** Columns of which every row has nothing. */
  absent: readonly string[];
  /** What the rows have for a zone, or the first of it. */
  zones: readonly string[];
}

/** Writes the rows of a batch, and of each its answers to the questions of these columns as `c1`, `c2`… */
export async function writeCells(work: string, rows: readonly MeasurementRow[], questions: readonly string[]): Promise<WrittenCells> {
  const there = COLUMNS.filter((one) => rows.some((row) => has(one, row)));
  const file = await BufferedFile.create(join(work, randomUUID()));
  const quote = RARE_QUOTE.charCodeAt(0);
  try {
    for (const row of rows) {
      file.rarelyQuoted(row.id);
      for (const one of there) {
        file.byte(0x2c);
        if (row.plain && isPlain(one, row)) {
          const { bytes, spans, from } = row.plain;
          const start = spans[from + one.place] ?? 0;
          if (start === 0) continue;
          file.byte(quote);
          file.bytes(bytes, start, spans[from + one.place + 1]);
          file.byte(quote);
        } else {
          const cell = one.of(row);
          if (cell !== null) file.rarelyQuoted(cell);
        }
      }
      if (questions.length > 0) {
        const answers = new Map(row.answers.map(({ column: name, text }) => [name, text]));
        for (const name of questions) {
          file.byte(0x2c);
          const cell = answers.get(name) ?? null;
          if (cell !== null) file.rarelyQuoted(cell);
        }
      }
      file.byte(0x0a);
      if (file.full) await file.drain();
    }
  } finally {
    await file.close();
  }
  return {
    path: file.path,
    columns: [...there.map(({ name }) => name), ...questions.map((_, at) => `c${at + 1}`)],
    absent: COLUMNS.filter((one) => !there.includes(one)).map(({ name }) => name),
    zones: zonesOf(rows),
  };
}
