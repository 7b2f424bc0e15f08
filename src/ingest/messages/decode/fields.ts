import { readJson } from '../../../json.ts';

/** The known fields of a measurement message besides its time and sample, each read by one line. */
export interface MeasurementFields {
  /** IANA name, as sent. */
  timezone: string | null;
  /** A protocol's id, or the sentinel `questions`; the topic's trailing id beats it. */
  protocolId: string | null;
  workbookVersionId: string | null;
  /** Shared by one round over several devices. */
  workbookRunId: string | null;
  /** JSON text of what the macros see as `ctx`. */
  macroContext: string | null;
  /**
   * JSON text of an array of `{id, name, filename}`. An entry with `output` (an object, or one for each element of a burst) or `error` is a delivered macro
   * result.
   */
  macros: string | null;
  /** JSON text of an array of `{question_label, question_text, question_answer}`. */
  questions: string | null;
  /** JSON text of an array of annotations. */
  annotations: string | null;
  /** Self-reported, like all `device…` fields: never taken as proof of who sent it. */
  userId: string | null;
  deviceId: string | null;
  deviceName: string | null;
  deviceVersion: string | null;
  deviceFirmware: string | null;
  /** Unit as the device defines it. */
  deviceBattery: number | null;
  /** Degrees, -90 to 90. */
  latitude: number | null;
  /** Degrees, -180 to 180. */
  longitude: number | null;
}

/** What a reader answers when the value has the wrong type or range. */
const WRONG = Symbol('wrong');
/** Reads a field from the parsed value and its JSON text. */
type Read<T> = (value: unknown, text: string) => T | typeof WRONG;

const words: Read<string> = (value) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : WRONG);
const list: Read<string> = (value, text) => (Array.isArray(value) ? text : WRONG);
const number =
  (least: number, most: number): Read<number> =>
  (value) => {
    const given = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
    return typeof given === 'number' && given >= least && given <= most ? given : WRONG;
  };
const anyNumber = number(-Number.MAX_VALUE, Number.MAX_VALUE);
const degrees90 = number(-90, 90);
const degrees180 = number(-180, 180);
/** JSON, or a string that holds JSON. */
const context: Read<string> = (value, text) => {
  if (typeof value === 'object') return text;
  if (typeof value !== 'string') return WRONG;
  try {
    readJson(value);
    return value;
  } catch {
    return WRONG;
  }
};

/** Reads every known field of a message; `nested` holds the JSON text of members that are objects or arrays. A value of the wrong type or range reads as null. */
export function readFields(message: Readonly<Record<string, unknown>>, nested: ReadonlyMap<string, string>): MeasurementFields {
  const field = <T>(key: string, read: Read<T>): T | null => {
    const value = Object.hasOwn(message, key) ? message[key] : null;
    if (value === null || value === undefined) return null;
    const got = read(value, nested.get(key) ?? 'null');
    return got === WRONG ? null : got;
  };
  return {
    timezone: field('timezone', words),
    protocolId: field('protocol_id', words),
    workbookVersionId: field('workbook_version_id', words),
    workbookRunId: field('workbook_run_id', words),
    macroContext: field('macro_context', context),
    macros: field('macros', list),
    questions: field('questions', list),
    annotations: field('annotations', list),
    userId: field('user_id', words),
    deviceId: field('device_id', words),
    deviceName: field('device_name', words),
    deviceVersion: field('device_version', words),
    deviceFirmware: field('device_firmware', words),
    deviceBattery: field('device_battery', anyNumber),
    latitude: field('latitude', degrees90),
    longitude: field('longitude', degrees180),
  };
}
