/** Ambyte trace text → one record a trace. */
import { readFile } from 'node:fs/promises';
import { printToken } from '../../exact-json.ts';
import { FileRefused, refuseShortPart, type FileScan } from '../../record-writer.ts';

/** The columns of a trace record, in order; what an instrument leaves out is null. */
export const AMBYTE_COLUMNS = [
  'Time',
  'Protocol',
  'Type',
  'Count',
  'Frequency',
  'Actinic',
  'PTS',
  'Timeline',
  'SigF',
  'RefF',
  'Sun',
  'Leaf',
  'Sig7',
  'Ref7',
  'Temp',
  'BoardT',
  'PAR',
  'raw',
  'spec',
  'meta_Actinic',
  'meta_Dark',
  'ambyte_folder',
  'ambit_index',
] as const;
type Cells = Partial<Record<(typeof AMBYTE_COLUMNS)[number], string | number | readonly number[] | null>>;

interface Trace {
  line: number;
  byteOffset: number;
  lines: string[];
  cells: Cells;
  isBroken: boolean;
}

const LEAST_POINTS = 8;
const STEP = 8;
const OFFSET = 65_536;
const SCALE = 16;
const FOLDER = /^(Ambyte_\d{1,3}|unknown_ambyte)\/(?:([1-4])\/)?/;

const numberOf = (text: string | undefined): number | null => {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
};
/** Reads the numbers after the tag, between tabs or commas; null when one of them is no number. */
function numbersOf(fields: readonly string[]): number[] | null {
  const values = fields
    .flatMap((field) => field.split(','))
    .filter((text) => text.trim() !== '')
    .map(numberOf);
  return values.every((value) => value !== null) ? values : null;
}
/** Tenths of a kelvin to degrees Celsius. */
const celsius = (raw: number | null) => (raw === null ? null : Number((raw / 10 - 273.1).toFixed(1)));
const pair = (high = 0, low = 0) => high * 256 + low;
const metaOf = (text: string, name: string) => new RegExp(`${name}:\\s*([^\\t;]*)`).exec(text)?.[1]?.trim() ?? null;

/** `A t0 t1 protocol ints…`: steps of 8 numbers. */
function steps(fields: readonly string[]): Cells | null {
  const ints = numbersOf(fields.slice(4));
  if (ints === null || ints.length === 0 || ints.length % STEP !== 0) return null;
  const rows = Array.from({ length: ints.length / STEP }, (_, at) => ints.slice(at * STEP, (at + 1) * STEP));
  return {
    Protocol: fields[3] ?? null,
    Type: rows.map(([type = 0]) => type),
    Count: rows.map((row) => pair(row[2], row[3])),
    Frequency: rows.map((row) => pair(row[4], row[5])),
    Actinic: rows.map((row) => row[6] ?? 0),
  };
}

/** `S t0 t1 step count actinic`. */
function spacer(fields: readonly string[]): Cells | null {
  const [step, count, actinic] = [fields[3], fields[4], fields[5]].map(numberOf);
  if (step == null || count == null || actinic == null) return null;
  return { Protocol: 'spacer', Type: [step], Count: [count], Actinic: [actinic] };
}

const SIGNALS: Readonly<Record<string, (values: number[]) => Cells>> = {
  T0: (values) => ({ Timeline: values }),
  T1: (values) => ({ SigF: values, PTS: values.length }),
  T2: (values) => ({ RefF: values }),
  T3: (values) => ({ Sun: values.map((value) => (value - OFFSET) / SCALE) }),
  T4: (values) => ({ Leaf: values.map((value) => (value - OFFSET) / SCALE) }),
  T5: (values) => ({ Sig7: values }),
  T6: (values) => ({ Ref7: values }),
};

/** What the instrument has said before a trace, which holds until it says otherwise. */
class Surroundings {
  /** Milliseconds: what the instrument's clock showed (`shown`), and the true time at that moment (`at`). */
  clock: { shown: number; at: number };
  cells: Cells = {};

  constructor(epochSeconds: number) {
    this.clock = { shown: 0, at: epochSeconds * 1_000 };
  }

  /** Takes a line that is no part of a trace; false when the line is of no known kind. */
  take(tag: string, fields: readonly string[], line: string): boolean {
    if (tag === 'I1' || tag === 'H1') {
      const [shown, seconds] = [numberOf(fields[1]), numberOf(fields[2])];
      if (shown !== null && seconds !== null) this.clock = { shown, at: seconds * 1_000 };
    } else if (tag === 'P') {
      const numbers = numbersOf(fields.slice(2));
      if (numbers) this.cells = { ...this.cells, PAR: numbers[0] ?? null, spec: numbers.slice(1, 11), raw: numbers[11] ?? null };
    } else if (tag === 'L') {
      this.cells = { ...this.cells, Temp: celsius(numberOf(fields[2])), BoardT: numberOf(fields[4]) };
    } else if (/\b(?:Act|Dark):/.test(line)) {
      const [act, dark] = [metaOf(line, 'Act'), metaOf(line, 'Dark')];
      this.cells = { ...this.cells, ...(act === null ? {} : { meta_Actinic: act }), ...(dark === null ? {} : { meta_Dark: dark }) };
    } else return false;
    return true;
  }

  timeOf(shown: number | null): string | null {
    const at = shown === null ? Number.NaN : this.clock.at + (shown - this.clock.shown);
    return Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : null;
  }
}

const isWhole = ({ cells, isBroken }: Trace): boolean => {
  const [signal, reference] = [cells.SigF, cells.RefF];
  return (
    !isBroken && Array.isArray(signal) && Array.isArray(reference) && signal.length >= LEAST_POINTS && signal.length === reference.length
  );
};

interface AmbyteScan extends Omit<FileScan, 'maxRecordBytes' | 'signal'> {
  /** What the file is called in the upload: its folder names the instrument, and the position of the ambit. */
  name: string;
}

/** Reads the traces of one file into token records. A trace without 8 points, or whose signal and reference differ in length, is refused as `bad_trace`. */
export async function scanAmbyte({ path, name, records, refusals, numbering, isPart = false }: AmbyteScan): Promise<{ rows: number }> {
  const text = (await readFile(path)).toString('utf8');
  const lines = text.split('\n');
  const epoch = numberOf(lines[0]?.split('\t')[2]);
  if (epoch === null)
    throw new FileRefused('wrong_type', 'This is no Ambyte trace file: the third field of its first line must be the time in seconds.');
  const [, ambyte, ambit] = FOLDER.exec(name) ?? [];
  const around = new Surroundings(epoch);
  let rows = 0;
  let traces = 0;

  const end = async (trace: Trace | undefined) => {
    if (!trace) return;
    traces += 1;
    const row = numbering.next(trace.byteOffset);
    if (!row) return;
    if (isWhole(trace)) {
      records.bytes(row);
      // light and temperature that were told within the trace are about it
      const cells: Cells = {
        ...around.cells,
        ...trace.cells,
        ambyte_folder: ambyte ?? null,
        ambit_index: ambit === undefined ? null : Number(ambit),
      };
      for (const column of AMBYTE_COLUMNS) {
        records.byte(0x2c);
        const token = printToken(cells[column]);
        if (token !== null) records.quoted(token);
      }
      records.byte(0x0a);
      if (records.full) await records.drain();
      rows += 1;
    } else await refusals.add(row, trace, 'bad_trace', Buffer.from(trace.lines.join('\n')));
  };

  let open: Trace | undefined;
  let byteOffset = 0;
  for (const [index, whole] of lines.entries()) {
    const line = whole.replace(/\r$/, '');
    const fields = line.split('\t');
    const tag = fields[0]?.trim() ?? '';
    const signal = SIGNALS[tag];
    if (tag === 'A' || tag === 'S') {
      await end(open);
      const head = tag === 'A' ? steps(fields) : spacer(fields);
      const time = around.timeOf(numberOf(fields[1]));
      open = { line: index + 1, byteOffset, lines: [line], cells: { ...head, Time: time }, isBroken: head === null || time === null };
    } else if (signal) {
      open ??= { line: index + 1, byteOffset, lines: [], cells: {}, isBroken: true };
      const values = numbersOf(fields.slice(1));
      if (values === null) open.isBroken = true;
      else open.cells = { ...open.cells, ...signal(values) };
      open.lines.push(line);
    } else if (index > 0 || tag === 'I1' || tag === 'H1') around.take(tag, fields, line);
    byteOffset += Buffer.byteLength(whole) + 1;
  }
  if (!isPart) await end(open);
  if (traces === 0 && isPart) throw refuseShortPart();
  if (traces === 0) throw new FileRefused('empty_file', 'The file holds no trace.');
  return { rows };
}
