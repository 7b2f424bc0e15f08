/**
 * Writes the measurements of a batch as one file of text cells. Values of plain messages are copied as their bytes stand, and others are printed from what was
 * decoded.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PlainName } from './decode/plain-measurement.ts';
import type { MeasurementRow } from './rows.ts';
import { BufferedFile, RARE_QUOTE } from '../record-writer.ts';

export const readDigits = (value: number | null) => (value === null ? null : String(value));
export const clean = (value: string | null) => (value?.includes('\0') === true ? value.replaceAll('\0', '\ufffd') : value);

/** What every row that is made from a measurement says of it. */
export interface MeasuredFacts {
  facts: Pick<MeasurementRow['facts'], 'timestamp' | 'deviceId' | 'deviceName' | 'timezone' | 'latitude' | 'longitude' | 'workbookRunId'>;
  contributorId: string | null;
  clientId: string | null;
  processedAt: string;
}

export interface CellColumn<Row> {
  name: string;
  /** The value of a message that the column holds, where a plain message can have it. */
  plain?: PlainName;
  of: (row: Row) => string | null;
}

export const FACT_COLUMNS: readonly CellColumn<MeasuredFacts>[] = [
  { name: 'measured_at', plain: 'timestamp', of: ({ facts }) => facts.timestamp },
  { name: 'device_id', plain: 'deviceId', of: ({ facts }) => clean(facts.deviceId) },
  { name: 'device_name', plain: 'deviceName', of: ({ facts }) => clean(facts.deviceName) },
  { name: 'timezone', plain: 'timezone', of: ({ facts }) => clean(facts.timezone) },
  { name: 'latitude', plain: 'latitude', of: ({ facts }) => readDigits(facts.latitude) },
  { name: 'longitude', plain: 'longitude', of: ({ facts }) => readDigits(facts.longitude) },
  { name: 'workbook_run_id', plain: 'workbookRunId', of: ({ facts }) => clean(facts.workbookRunId) },
  { name: 'contributor_id', of: ({ contributorId }) => contributorId },
  { name: 'client_id', of: ({ clientId }) => clean(clientId) },
  { name: 'processed_at', of: ({ processedAt }) => processedAt },
];

/** Every column of a measurement's row, but for the answers to questions. */
const MEASUREMENT_COLUMNS: readonly CellColumn<MeasurementRow>[] = [
  ...FACT_COLUMNS,
  { name: 'macros', of: ({ macros }) => clean(macros) },
  { name: 'protocol_id', plain: 'protocolId', of: (row) => clean(row.topicProtocolId ?? row.facts.protocolId) },
  { name: 'data', plain: 'sample', of: ({ data }) => data },
  { name: 'workbook_version_id', plain: 'workbookVersionId', of: ({ facts }) => clean(facts.workbookVersionId) },
  { name: 'macro_context', of: (row) => (row.plain ? null : clean(row.facts.macroContext)) },
];

const NO_PLACE = -1;

/** Finds where the begin of a column's value stands among the spans of a row. `NO_PLACE` for a value that is not copied from the message's bytes. */
const placeOf = ({ plain }: CellColumn<MeasurementRow>, row: MeasurementRow): number =>
  plain === undefined || !row.plain || (plain === 'protocolId' && row.topicProtocolId !== null) ? NO_PLACE : row.plain.placeOf(plain);

function has(one: CellColumn<MeasurementRow>, row: MeasurementRow): boolean {
  const place = placeOf(one, row);
  return row.plain && place !== NO_PLACE ? (row.plain.spans[place] ?? 0) > 0 : one.of(row) !== null;
}

/** Writes a line for each row of a batch. A row's answers to `questions` come last, as columns `c1`, `c2`… */
export async function writeCells(work: string, rows: readonly MeasurementRow[], questions: readonly string[]) {
  const there = MEASUREMENT_COLUMNS.filter((one) => rows.some((row) => has(one, row)));
  const file = await BufferedFile.create(join(work, randomUUID()));
  const quote = RARE_QUOTE.charCodeAt(0);
  try {
    for (const row of rows) {
      file.rarelyQuoted(row.id);
      for (const one of there) {
        file.byte(0x2c);
        const place = placeOf(one, row);
        if (row.plain && place !== NO_PLACE) {
          const { bytes, spans } = row.plain;
          const start = spans[place] ?? 0;
          if (start === 0) continue;
          file.byte(quote);
          file.bytes(bytes, start, spans[place + 1]);
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
    /** Columns of the file, in order, after `fieldlake_row`, which comes first. */
    columns: [...there.map(({ name }) => name), ...questions.map((_, at) => `c${at + 1}`)],
    /** Columns of measurements that are empty in every row; the file leaves them out. */
    absent: MEASUREMENT_COLUMNS.filter((one) => !there.includes(one)).map(({ name }) => name),
  };
}
