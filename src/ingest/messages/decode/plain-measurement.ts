/** A measurement whose values stand in the bytes of its message. */
import { hash } from 'node:crypto';

/** The values that are looked for, in the order of their places. */
export const PLAIN_ORDER = [
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
  'ownId',
  'userId',
  'macros',
  'questions',
  'annotations',
] as const;
export type PlainName = (typeof PLAIN_ORDER)[number];

/** Where the begin of each value stands among the spans of one message; its end comes next. */
export const PLAIN_PLACES = Object.fromEntries(PLAIN_ORDER.map((name, at) => [name, at * 2])) as Record<PlainName, number>;

/**
 * A measurement that reads each value from its bytes only when somebody asks for it. It answers what `decodePayload` answers for the same bytes, which are valid
 * UTF-8 without control characters.
 */
export class PlainMeasurement {
  readonly kind = 'measurement';
  /** The message's text, and nothing else. */
  readonly bytes: Buffer;
  /** Begin and end of each value in `bytes`, from `from` on, at the places of `PLAIN_PLACES`. The begin is 0 for a value that is not there. */
  readonly spans: Int32Array;
  readonly from: number;

  constructor(bytes: Buffer, spans: Int32Array, from: number) {
    this.bytes = bytes;
    this.spans = spans;
    this.from = from;
  }

  /** Answers where the begin of a value stands among `spans`; its end comes next. */
  placeOf(name: PlainName): number {
    return this.from + PLAIN_PLACES[name];
  }

  #text(name: PlainName): string | null {
    const at = this.placeOf(name);
    const start = this.spans[at] ?? 0;
    return start === 0 ? null : this.bytes.toString('utf8', start, this.spans[at + 1]);
  }

  #number(name: PlainName): number | null {
    const text = this.#text(name);
    return text === null ? null : Number(text);
  }

  get plain(): this {
    return this;
  }
  get index(): number {
    return 0;
  }
  get timestamp(): string {
    const text = this.#text('timestamp') ?? '';
    return `${text.slice(0, 19)}.${text.slice(20, -1).padEnd(6, '0')}Z`;
  }
  get samples(): readonly string[] {
    const text = this.#text('sample');
    return text === null ? [] : [text];
  }
  get ownId(): string | null {
    return this.#text('ownId');
  }
  get sha256(): string | null {
    return this.ownId === null ? hash('sha256', this.bytes) : null;
  }
  get timezone(): string | null {
    return this.#text('timezone');
  }
  get protocolId(): string | null {
    return this.#text('protocolId');
  }
  get workbookVersionId(): string | null {
    return this.#text('workbookVersionId');
  }
  get workbookRunId(): string | null {
    return this.#text('workbookRunId');
  }
  get macroContext(): string | null {
    return null;
  }
  get macros(): string | null {
    return this.#text('macros');
  }
  get questions(): string | null {
    return this.#text('questions');
  }
  get annotations(): string | null {
    return this.#text('annotations');
  }
  get userId(): string | null {
    return this.#text('userId');
  }
  get deviceId(): string | null {
    return this.#text('deviceId');
  }
  get deviceName(): string | null {
    return this.#text('deviceName');
  }
  get deviceVersion(): string | null {
    return this.#text('deviceVersion');
  }
  get deviceFirmware(): string | null {
    return this.#text('deviceFirmware');
  }
  get deviceBattery(): number | null {
    return this.#number('deviceBattery');
  }
  get latitude(): number | null {
    return this.#number('latitude');
  }
  get longitude(): number | null {
    return this.#number('longitude');
  }
}
