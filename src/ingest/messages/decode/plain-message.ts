/**
 * The quickest look at a measurement message. It takes one JSON object with plain values, which instruments send nearly always. It finds in the bytes where
 * each known value stands, and makes no value until somebody asks for it. `decodePayload` (payload.ts) takes any other message apart.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { isPlainInstant } from './instant.ts';
import {
  hasLettersAt,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  DEEPEST,
  findEmptyListEnd,
  FALSE,
  isSpace,
  findNestedEnd,
  NOT,
  NULL,
  OPEN_LIST,
  OPEN_OBJECT,
  findNumberEnd,
  findStringEnd,
  QUOTE,
  TRUE,
  findWholeEnd,
} from './plain-json.ts';
import { PLAIN_ORDER, PLAIN_PLACES, PlainMeasurement, type PlainName } from './plain-measurement.ts';

const UNDERSCORE = 0x5f;
const LONGEST_ID = 200;

/** What a plain value may be: a list must be empty, `none` must be null, and the value of an unknown key may be anything. */
type Form = 'instant' | 'word' | 'number' | 'object' | 'id' | 'list' | 'none' | 'any';
interface Member {
  /** The key, in quotes. */
  readonly written: Buffer;
  readonly form: Form;
  /** Where the begin of its value stands among the spans; -1 for a value that is not kept. */
  readonly place: number;
  /** A number must be nearer to zero than this. */
  readonly bound: number;
  /** The member's own bit, by which a member that comes twice is found. */
  readonly bit: number;
}

let bits = 1;
function member(key: string, form: Form, name?: PlainName, bound = Number.MAX_SAFE_INTEGER): Member {
  const made = { written: Buffer.from(`"${key}"`), form, place: name === undefined ? -1 : PLAIN_PLACES[name], bound, bit: bits };
  bits *= 2;
  return made;
}

const MEMBERS: readonly Member[] = [
  member('id', 'id', 'ownId'),
  member('timestamp', 'instant', 'timestamp'),
  member('timezone', 'word', 'timezone'),
  member('device_id', 'word', 'deviceId'),
  member('device_name', 'word', 'deviceName'),
  member('device_version', 'word', 'deviceVersion'),
  member('device_firmware', 'word', 'deviceFirmware'),
  member('device_battery', 'number', 'deviceBattery'),
  member('protocol_id', 'word', 'protocolId'),
  member('workbook_version_id', 'word', 'workbookVersionId'),
  member('workbook_run_id', 'word', 'workbookRunId'),
  member('user_id', 'word', 'userId'),
  member('latitude', 'number', 'latitude', 90),
  member('longitude', 'number', 'longitude', 180),
  member('sample', 'object', 'sample'),
  member('macro_context', 'none'),
  member('macros', 'list', 'macros'),
  member('questions', 'list', 'questions'),
  member('annotations', 'list', 'annotations'),
];
const OTHER: Member = { written: Buffer.alloc(0), form: 'any', place: -1, bound: Number.MAX_SAFE_INTEGER, bit: 0 };

/** Finds the end of a value that nobody asks for. */
function anyEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return findStringEnd(bytes, start);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return findNestedEnd(bytes, start);
  for (const word of [TRUE, FALSE]) if (hasLettersAt(bytes, start, word)) return start + word.length;
  return findNumberEnd(bytes, start, Number.MAX_SAFE_INTEGER);
}

const SPANS = PLAIN_ORDER.length * 2;
const MESSAGES = 1_024;
/** Where the values of `MESSAGES` messages stand. It is one array, because the garbage collector would copy an array of each message every time. */
let room = new Int32Array(SPANS * MESSAGES);
let used = 0;

/** A place for the spans of one message, with nothing in it. */
function takeRoom(): number {
  if (used === room.length) {
    room = new Int32Array(SPANS * MESSAGES);
    used = 0;
  }
  return used;
}

/** Finds the end of a member's value, and notes in `room` where the value stands; `NOT` where it is not plain. */
function valueEnd(bytes: Buffer, start: number, { form, place, bound }: Member, from: number): number {
  const first = bytes[start];
  if (first === NULL[0]) return form !== 'instant' && hasLettersAt(bytes, start, NULL) ? start + 4 : NOT;
  let end: number;
  let inner = 0;
  switch (form) {
    case 'word':
      inner = first === QUOTE ? 1 : 0;
      end = inner === 1 ? findStringEnd(bytes, start) : findWholeEnd(bytes, start);
      break;
    case 'id':
      inner = 1;
      end = first === QUOTE ? findStringEnd(bytes, start) : NOT;
      if (end - start - 2 > LONGEST_ID || end === start + 2) return NOT;
      break;
    case 'instant':
      inner = 1;
      end = first === QUOTE ? findStringEnd(bytes, start) : NOT;
      if (end === NOT || !isPlainInstant(bytes, start + 1, end - 1)) return NOT;
      break;
    case 'number':
      end = findNumberEnd(bytes, start, bound);
      break;
    case 'object':
      end = first === OPEN_OBJECT ? findNestedEnd(bytes, start) : NOT;
      break;
    case 'list':
      end = findEmptyListEnd(bytes, start);
      break;
    case 'none':
      return NOT;
    case 'any':
      end = anyEnd(bytes, start);
  }
  if (end === NOT || place < 0) return end;
  room[from + place] = start + inner;
  room[from + place + 1] = end - inner;
  return end;
}

/** Finds which of `MEMBERS` has its key at a place; `NOT` for none. The search begins at `expected`, because members mostly come in the order of that list. */
function memberAt(bytes: Buffer, at: number, expected: number): number {
  for (let index = expected; index < MEMBERS.length; index += 1)
    if (hasLettersAt(bytes, at, (MEMBERS[index] as Member).written)) return index;
  for (let index = 0; index < expected; index += 1) if (hasLettersAt(bytes, at, (MEMBERS[index] as Member).written)) return index;
  return NOT;
}

/** Notes in `room`, from `from` on, where the values of a message stand in its bytes, in pairs of begin and end. Answers whether the message is plain. */
function findSpans(bytes: Buffer, from: number): boolean {
  const { length } = bytes;
  if (bytes[0] !== OPEN_OBJECT || bytes[length - 1] !== CLOSE_OBJECT) return false;
  let seen = 0;
  let expected = 0;
  for (let at = 1; at < length;) {
    while (isSpace(bytes[at])) at += 1;
    if (bytes[at] !== QUOTE) return false;
    const index = memberAt(bytes, at, expected);
    let found = OTHER;
    if (index === NOT) {
      // a key that begins with an underscore has a meaning of its own, here or for the engine
      if (bytes[at + 1] === UNDERSCORE) return false;
      at = findStringEnd(bytes, at);
      if (at === NOT) return false;
    } else {
      found = MEMBERS[index] as Member;
      if ((seen & found.bit) !== 0) return false;
      seen |= found.bit;
      expected = index + 1;
      at += found.written.length;
    }
    while (isSpace(bytes[at])) at += 1;
    if (bytes[at] !== COLON) return false;
    at += 1;
    while (isSpace(bytes[at])) at += 1;
    at = valueEnd(bytes, at, found, from);
    if (at === NOT) return false;
    while (isSpace(bytes[at])) at += 1;
    const mark = bytes[at];
    at += 1;
    // the first span is that of the time, which every message must have
    if (mark === CLOSE_OBJECT) return at === length && room[from] !== 0;
    if (mark !== COMMA) return false;
  }
  return false;
}

const LONGEST = 1_048_576;

interface Caps {
  bytes: number;
  depth: number;
  values: number;
}

/**
 * Reads the one measurement that a payload holds, if it is plain. Undefined says nothing of the payload. The bytes must not change as long as the measurement
 * is used.
 */
export function readPlainMeasurement(payload: Buffer, caps: Caps): PlainMeasurement | undefined {
  const { length } = payload;
  if (length === 0 || length > Math.min(caps.bytes, caps.values, LONGEST) || caps.depth <= DEEPEST) return undefined;
  let [start, end] = [0, length];
  while (isSpace(payload[start])) start += 1;
  while (isSpace(payload[end - 1])) end -= 1;
  const bytes = start === 0 && end === length ? payload : payload.subarray(start, end);
  const from = takeRoom();
  if (findSpans(bytes, from) && (isAscii(bytes) || isUtf8(bytes))) {
    used += SPANS;
    return new PlainMeasurement(bytes, room, from);
  }
  room.fill(0, from, from + SPANS);
  return undefined;
}
