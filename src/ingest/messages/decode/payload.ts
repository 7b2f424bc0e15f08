/** Takes apart what a device sends: bytes in, measurements or reasons out. Pure, bounded, and without any throw. */
import { isAscii } from 'node:buffer';
import { hash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { isRecord } from '../../../json.ts';
import { listChildren, readStrictJson, type JsonFault, type StrictJson } from './json.ts';
import { readFields, type MeasurementFields } from './fields.ts';
import { readInstant } from './instant.ts';
import { readPlainMeasurement } from './plain-message.ts';
import type { PlainMeasurement } from './plain-measurement.ts';

/** Why a payload, or one message of it, is quarantined. */
export type RefusalReason =
  | JsonFault
  | 'empty'
  | 'too-large'
  | 'gzip-invalid'
  | 'decompressed-too-large'
  | 'not-utf8'
  | 'not-an-object'
  | 'too-many-messages'
  | 'timestamp-missing'
  | 'timestamp-invalid'
  | 'sample-invalid'
  | 'sample-encoding-unknown'
  | 'sample-base64-invalid'
  | 'sample-gzip-invalid'
  | 'sample-too-large'
  | 'too-many-samples';

export interface PayloadCaps {
  /** Bytes as they came. */
  bytes: number;
  /** Bytes after decompression, the payload and all its samples together. */
  decompressed: number;
  /** Nesting of JSON. */
  depth: number;
  /** JSON values in one text. */
  values: number;
  /** Messages in one payload. */
  messages: number;
  /** Elements of one burst. */
  samples: number;
}

/** Caps for a message from the broker, which takes 128 kB at most. An uploaded object may have larger ones. */
export const MESSAGE_CAPS: PayloadCaps = {
  bytes: 131_072,
  decompressed: 8_388_608,
  depth: 64,
  values: 500_000,
  messages: 10_000,
  samples: 10_000,
};

export interface Measurement extends MeasurementFields {
  kind: 'measurement';
  /** Position in the payload. */
  index: number;
  /** UTC, six digits of a second: `2026-05-01T10:00:00.123456Z`. */
  timestamp: string;
  /** JSON texts, as the device wrote them: one for an object, one for each element of a burst, none without a sample. */
  samples: readonly string[];
  /** The message's own `id`, if it has one. It identifies the source, and the hash does so only without it. */
  ownId: string | null;
  /** SHA-256, hex, of the message's text (decompressed, as strict JSON). Null for a message with an id of its own, which needs no hash. */
  sha256: string | null;
}

export interface Refusal {
  kind: 'refusal';
  /** Position in the payload; null when the whole payload is refused. */
  index: number | null;
  reason: RefusalReason;
}

type Decoded = Measurement | Refusal;

/** Bytes that may still be unpacked of one payload. */
interface Budget {
  left: number;
}

function gunzip(bytes: Uint8Array, budget: Budget): Buffer | 'invalid' | 'too-large' {
  try {
    const plain = gunzipSync(bytes, { maxOutputLength: Math.max(budget.left, 1) });
    budget.left -= plain.length;
    return budget.left < 0 ? 'too-large' : plain;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'invalid';
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function utf8(bytes: Uint8Array): string | null {
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function cutSamples({ text, value }: Pick<StrictJson, 'text' | 'value'>, caps: PayloadCaps): readonly string[] | RefusalReason {
  if (isRecord(value)) return [text.trim()];
  if (!Array.isArray(value)) return 'sample-invalid';
  if (value.length > caps.samples) return 'too-many-samples';
  return listChildren(text).map(({ start, end }) => text.slice(start, end));
}

function readSampleText(text: string, caps: PayloadCaps): readonly string[] | RefusalReason {
  const json = readStrictJson(text, caps);
  return typeof json === 'string' ? (json === 'json-invalid' ? 'sample-invalid' : json) : cutSamples(json, caps);
}

function unpackSample(packed: string, encoding: unknown, budget: Budget): string | { reason: RefusalReason } {
  if (encoding === undefined || encoding === null || encoding === '' || encoding === 'none') return packed;
  if (encoding !== 'gzip+base64') return { reason: 'sample-encoding-unknown' };
  const compact = packed.replace(/\s+/g, '');
  if (!base64.test(compact) || compact.length % 4 === 1) return { reason: 'sample-base64-invalid' };
  const plain = gunzip(Buffer.from(compact, 'base64'), budget);
  if (plain === 'invalid') return { reason: 'sample-gzip-invalid' };
  if (plain === 'too-large') return { reason: 'sample-too-large' };
  return utf8(plain) ?? { reason: 'not-utf8' };
}

function readSamples(
  message: Record<string, unknown>,
  asSent: string | undefined,
  caps: PayloadCaps,
  budget: Budget,
): readonly string[] | RefusalReason {
  const sample = message['sample'];
  if (sample === undefined || sample === null || sample === '') return [];
  if (typeof sample !== 'string') return cutSamples({ text: asSent ?? '', value: sample }, caps);
  const text = unpackSample(sample, message['_sample_encoding'], budget);
  return typeof text === 'string' ? readSampleText(text, caps) : text.reason;
}

/** The text of one message as it was sent, and as strict JSON where it has been read already. */
interface Sent {
  sent: string;
  json?: StrictJson;
}

function decodeMessage({ sent, json: known }: Sent, index: number, caps: PayloadCaps, budget: Budget): Decoded {
  const refuse = (reason: RefusalReason): Refusal => ({ kind: 'refusal', index, reason });
  const json = known ?? readStrictJson(sent, caps);
  if (typeof json === 'string') return refuse(json);
  const message = json.value;
  if (!isRecord(message)) return refuse('not-an-object');
  const nested = json.members();
  if (message['timestamp'] === undefined || message['timestamp'] === null) return refuse('timestamp-missing');
  const timestamp = readInstant(message['timestamp']);
  if (timestamp === null) return refuse('timestamp-invalid');
  const samples = readSamples(message, nested.get('sample'), caps, budget);
  if (typeof samples === 'string') return refuse(samples);
  const id = Object.hasOwn(message, 'id') ? message['id'] : null;
  const ownId = typeof id === 'string' && id !== '' && id.length <= 200 ? id : null;
  return {
    ...readFields(message, nested),
    kind: 'measurement',
    index,
    timestamp,
    samples,
    ownId,
    sha256: ownId === null ? hash('sha256', json.text) : null,
  };
}

/** The messages in a payload: one object, the elements of one array, or the lines of NDJSON. */
function messagesOf(text: string, caps: PayloadCaps): readonly Sent[] | RefusalReason {
  const isList = text.startsWith('[');
  const whole = readStrictJson(text, { depth: caps.depth + (isList ? 1 : 0), values: caps.values });
  if (typeof whole === 'object') {
    if (!Array.isArray(whole.value)) return [{ sent: text, json: whole }];
    return listChildren(whole.text).map(({ start, end }) => ({ sent: whole.text.slice(start, end) }));
  }
  // one line beyond the cap is enough to refuse them all
  const lines = Array.from(text.matchAll(/\S[^\n]*/g).take(caps.messages + 1), ([line]) => line.trimEnd());
  const readable = whole === 'json-invalid' && lines.length > 1 && lines.some((line) => typeof readStrictJson(line, caps) === 'object');
  return readable ? lines.map((sent) => ({ sent })) : whole;
}

/**
 * Takes one payload apart. It may be gzipped, and holds one JSON object, an array of objects, or one object a line. A refusal with `index: null` is about the
 * whole payload and is then the only entry. Never throws, whatever the bytes. `caps` bound its work and memory.
 */
export function decodePayload(payload: Uint8Array, caps: PayloadCaps = MESSAGE_CAPS): readonly Decoded[] {
  const refuse = (reason: RefusalReason): readonly Decoded[] => [{ kind: 'refusal', index: null, reason }];
  if (payload.length > caps.bytes) return refuse('too-large');
  const budget = { left: caps.decompressed };
  const zipped = payload[0] === 0x1f && payload[1] === 0x8b;
  const plain = zipped ? gunzip(payload, budget) : payload;
  if (plain === 'invalid') return refuse('gzip-invalid');
  if (plain === 'too-large') return refuse('decompressed-too-large');
  const text = utf8(plain)?.trim();
  if (text === undefined) return refuse('not-utf8');
  if (text === '') return refuse('empty');
  const messages = messagesOf(text, caps);
  if (typeof messages === 'string') return refuse(messages);
  if (messages.length === 0) return refuse('empty');
  if (messages.length > caps.messages) return refuse('too-many-messages');
  return messages.map((message, index) => decodeMessage(message, index, caps, budget));
}

/**
 * Takes one payload apart as `decodePayload` does, but leaves a plain measurement in its bytes and reads each value when somebody asks for it. The bytes must
 * not change as long as the measurement is used.
 */
export function readPayload(payload: Buffer, caps: PayloadCaps = MESSAGE_CAPS): readonly (Measurement | Refusal | PlainMeasurement)[] {
  const plain = readPlainMeasurement(payload, caps);
  return plain ? [plain] : decodePayload(payload, caps);
}
