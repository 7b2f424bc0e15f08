/** Makes the rows of decoded messages: one for each measurement, or for each element of its burst, with the macro outputs that came with it. Pure. */
import { isUuid } from '../../database/uuid.ts';
import { isRecord } from '../../json.ts';
import { listFixedColumns } from '../../lakehouse/terms/catalog.ts';
import { OWN_NAMES } from '../typing/columns.ts';
import { readAnswers, type Answer } from './questions.ts';
import { readExactValue, type ExactValue } from '../exact-json.ts';
import { hashRowId, type makeDeviceHasher } from './ids.ts';
import { MAX_COLUMNS, MAX_RECORD_BYTES } from '../limits.ts';
import { readAnnotations, type BroughtAnnotation } from './annotations.ts';
import type { Measurement, Refusal } from './decode/payload.ts';
import type { PlainMeasurement } from './decode/plain-measurement.ts';

/** A measurement as it came, or with its values still in the bytes of its message. */
export interface DecodedMeasurement extends Measurement {
  /**
   * Set for a message that is stored as it was sent: no macros, no questions, no annotations and at most one sample. The other members are read only when
   * they are needed.
   */
  plain?: PlainMeasurement;
}

/** Why a payload or one message of it has no rows: a reason of the decoder, or that reading it failed. */
export type DecodedRefusal = Omit<Refusal, 'reason'> & { reason: string };

/** Who sent a message, and when it came. */
export interface Arrival {
  clientId: string | null;
  userId: string | null;
  /** The one person whom a message of a device may name; absent where it may name anybody. */
  namesOnly?: string | null;
  /** From the topic; beats the payload's. */
  protocolId: string | null;
  arrivedAt: Date;
}

export interface MacroResult {
  macroId: string;
  name: string | null;
  filename: string | null;
  output: Readonly<Record<string, ExactValue>>;
  error: string | null;
}

type Facts = Omit<
  DecodedMeasurement,
  'kind' | 'plain' | 'index' | 'samples' | 'ownId' | 'sha256' | 'questions' | 'annotations' | 'macros' | 'userId'
>;

/** One row of `raw_data`, before it is written. */
export interface MeasurementRow {
  id: string;
  deviceRow: string;
  /** The message from whose bytes values are copied, except for a protocol that the topic names. */
  plain?: PlainMeasurement;
  topicProtocolId?: string | null;
  facts: Facts;
  clientId: string | null;
  /** The person whom the connection proved; null for what a device sent. */
  senderId: string | null;
  contributorId: string | null;
  processedAt: string;
  macros: string | null;
  data: string | null;
  answers: readonly Answer[];
  results: readonly MacroResult[];
  annotations: readonly BroughtAnnotation[];
  /** Ids of the macros that are to run on the measurement: those that it names and whose output did not come with it. */
  toRun: readonly string[];
}

/** How many macros are run on one measurement; others that a message names are not run. */
export const MACROS_RUN = 20;

const RESERVED: ReadonlySet<string> = new Set([...listFixedColumns('raw_data').map(({ name }) => name), ...OWN_NAMES]);

let last = { at: NaN, iso: '' };
/** Prints a time as ISO text, and keeps the last one: messages that were kept together came at one time. */
function isoOf(time: Date): string {
  const at = time.getTime();
  if (at !== last.at) last = { at, iso: time.toISOString() };
  return last.iso;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null);

const NONE: readonly never[] = [];

function listOf(json: string | null): readonly ExactValue[] {
  const value = json === null ? null : readExactValue(json);
  return Array.isArray(value) ? (value as readonly ExactValue[]) : NONE;
}

/** The macros that a message names, or else those that one element of its sample names, by id or as objects. */
function macrosOf(named: readonly ExactValue[], sample: string | null): readonly Record<string, ExactValue>[] {
  let list = named;
  if (list.length === 0 && sample?.includes('"macros"') === true) {
    const inner = readExactValue(sample);
    const own = isRecord(inner) ? inner['macros'] : null;
    list = Array.isArray(own) ? (own as readonly ExactValue[]) : NONE;
  }
  return list.length === 0 ? NONE : list.flatMap((entry) => (isRecord(entry) ? [entry] : typeof entry === 'string' ? [{ id: entry }] : []));
}

function resultOf(macro: Readonly<Record<string, ExactValue>>, index: number, isBurst: boolean): MacroResult[] {
  const macroId = text(macro['id']);
  const delivered = macro['output'] ?? null;
  const error = text(macro['error']);
  if (macroId === null || !isUuid(macroId) || (delivered === null && error === null)) return [];
  const output = isBurst && Array.isArray(delivered) ? ((delivered as readonly ExactValue[])[index] ?? null) : delivered;
  const about = { macroId: macroId.toLowerCase(), name: text(macro['name']), filename: text(macro['filename']) };
  if (isRecord(output)) return [{ ...about, output, error }];
  return [{ ...about, output: {}, error: error ?? 'The macro delivered no object.' }];
}

type Named = Pick<MeasurementRow, 'macros' | 'results' | 'toRun'>;
const NOTHING_NAMED: Named = { macros: null, results: NONE, toRun: NONE };

/** What a row says of the macros that were named for it. */
function namedIn(macros: readonly Record<string, ExactValue>[], index: number, isBurst: boolean): Named {
  if (macros.length === 0) return NOTHING_NAMED;
  const shown = macros.map((macro) => ({ id: text(macro['id']), name: text(macro['name']), filename: text(macro['filename']) }));
  const results = macros.flatMap((macro) => resultOf(macro, index, isBurst));
  const delivered = new Set(results.map(({ macroId }) => macroId));
  const toRun = macros.flatMap((macro) => {
    const macroId = text(macro['id']);
    return macroId !== null && isUuid(macroId) && !delivered.has(macroId.toLowerCase()) ? [macroId.toLowerCase()] : [];
  });
  return { macros: JSON.stringify(shown), results, toRun: [...new Set(toRun)].slice(0, MACROS_RUN) };
}

/** Whose measurement it is: the person whom the connection proved, or else the one whom the message names. */
export function pickContributor(arrival: Arrival, { userId }: Pick<DecodedMeasurement, 'userId'>): string | null {
  if (arrival.userId !== null) return arrival.userId;
  const named = userId !== null && isUuid(userId) ? userId.toLowerCase() : null;
  return arrival.namesOnly === undefined || arrival.namesOnly === named ? named : null;
}

/** How many rows a message comes to. */
export const countRows = (message: DecodedMeasurement): number => (message.plain ? 1 : Math.max(1, message.samples.length));

/** The row of a plain message, whose values are made only when somebody asks for them. */
class PlainRow implements MeasurementRow {
  readonly macros = null;
  readonly answers = NONE;
  readonly results = NONE;
  readonly annotations = NONE;
  readonly toRun = NONE;
  readonly deviceRow: string;
  readonly clientId: string | null;
  readonly senderId: string | null;
  readonly contributorId: string | null;
  readonly processedAt: string;
  readonly plain: PlainMeasurement;
  readonly topicProtocolId: string | null;
  readonly #source: string;

  constructor(ids: { source: string; deviceRow: string }, arrival: Arrival, plain: PlainMeasurement) {
    this.#source = ids.source;
    this.deviceRow = ids.deviceRow;
    this.clientId = arrival.clientId;
    this.senderId = arrival.userId;
    this.contributorId = pickContributor(arrival, plain);
    this.processedAt = isoOf(arrival.arrivedAt);
    this.plain = plain;
    this.topicProtocolId = arrival.protocolId;
  }

  get id(): string {
    return hashRowId(this.#source, 0);
  }
  get data(): string | null {
    return this.plain.samples[0] ?? null;
  }
  get facts(): Facts {
    const message = this.plain;
    if (this.topicProtocolId === null) return message;
    return {
      timestamp: message.timestamp,
      timezone: message.timezone,
      protocolId: this.topicProtocolId,
      workbookVersionId: message.workbookVersionId,
      workbookRunId: message.workbookRunId,
      macroContext: message.macroContext,
      deviceId: message.deviceId,
      deviceName: message.deviceName,
      deviceVersion: message.deviceVersion,
      deviceFirmware: message.deviceFirmware,
      deviceBattery: message.deviceBattery,
      latitude: message.latitude,
      longitude: message.longitude,
    };
  }
}

function sampleLength(plain: PlainMeasurement): number {
  const at = plain.placeOf('sample');
  return (plain.spans[at + 1] ?? 0) - (plain.spans[at] ?? 0);
}

/** The rows of one message, in order; or the word that says why it cannot be stored. */
export function makeMeasurementRows(
  { source, deviceRow }: { source: string; deviceRow: ReturnType<typeof makeDeviceHasher> },
  arrival: Arrival,
  message: DecodedMeasurement,
): MeasurementRow[] | string {
  const { plain } = message;
  if (plain) {
    if (sampleLength(plain) > MAX_RECORD_BYTES) return 'sample-too-large';
    return [new PlainRow({ source, deviceRow: deviceRow(message) }, arrival, plain)];
  }
  const { samples, questions, annotations } = message;
  const asked = questions === null ? NONE : listOf(questions);
  // each would have a column of its own
  if (asked.length > MAX_COLUMNS && asked.filter(isRecord).length > MAX_COLUMNS) return 'too-many-questions';
  const answers = readAnswers(asked, RESERVED);
  const named = listOf(message.macros);
  const brought = listOf(annotations);
  const contributorId = pickContributor(arrival, message);
  const protocolId = arrival.protocolId ?? message.protocolId;
  const facts = protocolId === message.protocolId ? message : { ...message, protocolId };
  const rows: MeasurementRow[] = [];
  for (let index = 0; index < Math.max(1, samples.length); index += 1) {
    const data = samples[index] ?? null;
    // no unit of UTF-16 has more than three bytes in UTF-8
    if (data !== null && data.length * 3 > MAX_RECORD_BYTES && Buffer.byteLength(data) > MAX_RECORD_BYTES) return 'sample-too-large';
    const id = hashRowId(source, index);
    const { macros, results, toRun } = namedIn(macrosOf(named, data), index, samples.length > 1);
    rows.push({
      id,
      deviceRow: deviceRow(message),
      facts,
      clientId: arrival.clientId,
      senderId: arrival.userId,
      contributorId,
      processedAt: isoOf(arrival.arrivedAt),
      macros,
      data,
      answers,
      annotations: brought.length === 0 ? NONE : readAnnotations(brought, { rowId: id, createdBy: contributorId, at: facts.timestamp }),
      results,
      toRun,
    });
  }
  return rows;
}
