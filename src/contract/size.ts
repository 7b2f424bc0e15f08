import { setImmediate } from 'node:timers/promises';
import { errors } from '../errors.ts';

/** What a JSON text may hold. The bytes are counted before they are parsed. */
export interface JsonLimits {
  /** Values of the whole text, lists and objects included. */
  values: number;
  /** Members of one object. */
  members: number;
  /** Items of a list that is a member of the text's outermost object. */
  items: number;
  /** Levels of lists and objects within each other. */
  depth: number;
}

export interface JsonSize {
  values: number;
  /** False: the text breaks off, and is no JSON. */
  isWhole: boolean;
  /** The longest list among the members of the outermost object, which can be cut between items; undefined where there is none. */
  list: JsonList | undefined;
}

export interface JsonList {
  /** Byte of the opening bracket, and of the closing one. */
  start: number;
  end: number;
  /** Positions of some of the commas between the items, each at least `PIECE` bytes behind the one before. */
  commas: number[];
}

/** Bytes of neighbouring items that are parsed together. */
const PIECE = 65_536;

/** Bytes that are counted before the event loop gets its turn: about 2 ms. */
const SLICE = 1_000_000;

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];

const refusal = (message: string) => errors.invalidInput().with({ problems: [{ path: '', message }] });

/** Counts a text from byte to byte; it may be called again with the bytes that follow. */
class Counter {
  readonly limits: JsonLimits;
  values = 1;
  longest: JsonList | undefined;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** For each level: the members so far, or -1 for a list. */
  readonly #members: Int32Array;
  #list: JsonList | undefined;
  #items = 0;

  constructor(limits: JsonLimits) {
    this.limits = limits;
    this.#members = new Int32Array(limits.depth + 1);
  }

  count(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#inString) {
        if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === COMMA) this.#separate(at);
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#open(at, byte === OPEN_LIST);
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#close(at);
    }
  }

  #addValue(): void {
    this.values += 1;
    if (this.values > this.limits.values) throw refusal(`holds more than ${this.limits.values} values`);
  }

  #open(at: number, isList: boolean): void {
    this.#depth += 1;
    if (this.#depth > this.limits.depth) throw refusal(`must nest at most ${this.limits.depth} levels deep`);
    this.#members[this.#depth] = isList ? -1 : 1;
    this.#addValue();
    if (isList && this.#depth === 2 && (this.#members[1] ?? -1) >= 0) {
      this.#list = { start: at, end: at, commas: [] };
      this.#items = 0;
    }
  }

  #separate(at: number): void {
    const members = this.#members[this.#depth] ?? -1;
    if (members >= this.limits.members) throw refusal(`has an object of more than ${this.limits.members} members`);
    if (members >= 0) this.#members[this.#depth] = members + 1;
    else if (this.#depth === 2 && this.#list) this.#countItem(at, this.#list);
    this.#addValue();
  }

  #countItem(at: number, { commas, start }: JsonList): void {
    this.#items += 1;
    if (this.#items >= this.limits.items) throw refusal(`has a list of more than ${this.limits.items} items`);
    if (at - (commas.at(-1) ?? start) >= PIECE) commas.push(at);
  }

  #close(at: number): void {
    if (this.#depth === 2 && this.#list) {
      const list = { ...this.#list, end: at };
      if (list.end - list.start > (this.longest ? this.longest.end - this.longest.start : 0)) this.longest = list;
      this.#list = undefined;
    }
    this.#depth = Math.max(0, this.#depth - 1);
  }

  /** Whether everything that was opened has been closed. */
  get isWhole(): boolean {
    return this.#depth === 0 && !this.#inString;
  }
}

/** Counts what a JSON text holds, 1 MB at a time. The counts of a text that is no JSON mean nothing. Errors: bad input beyond the limits. */
export async function measureJson(bytes: Uint8Array, limits: JsonLimits): Promise<JsonSize> {
  const counter = new Counter(limits);
  for (let at = 0; at < bytes.length; at += SLICE) {
    if (at > 0) await setImmediate();
    counter.count(bytes, at, Math.min(at + SLICE, bytes.length));
  }
  return { values: counter.values, list: counter.longest, isWhole: counter.isWhole };
}
