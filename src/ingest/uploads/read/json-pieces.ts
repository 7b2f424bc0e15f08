/** Cuts JSON into the texts of its records: lines, or the elements of a list. */
import type { Window } from './window.ts';

export const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
export const COMMA = 0x2c;
const COLON = 0x3a;

interface Piece {
  /** The text of one record; empty when there was only white space. */
  start: number;
  end: number;
  /** Where reading goes on. */
  next: number;
  /** Whether the list ends behind it. */
  last: boolean;
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** Moves the ends of a text in by its white space. */
export function trim(bytes: Buffer, start: number, end: number): [number, number] {
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return [start, end];
}

/** The next line, or undefined when more bytes are needed. */
function nextLine(bytes: Buffer, from: number, final: boolean): Piece | undefined {
  const at = bytes.indexOf(LF, from);
  if (at < 0 && !final) return undefined;
  const stop = at < 0 ? bytes.length : at;
  const [start, end] = trim(bytes, from, stop);
  return { start, end, next: at < 0 ? stop : at + 1, last: false };
}

/** The next element of a list, up to its comma or the list's end, or undefined when more bytes are needed. Brackets inside strings do not count. */
function nextElement(bytes: Buffer, from: number, final: boolean): Piece | undefined {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at += 1;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (depth > 0 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) depth -= 1;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
      const [start, end] = trim(bytes, from, at);
      return { start, end, next: at + 1, last: byte === CLOSE_LIST };
    }
  }
  if (!final) return undefined;
  const [start, end] = trim(bytes, from, bytes.length);
  return { start, end, next: bytes.length, last: false };
}

/** Counts the keys of a record, and its keys, lists and objects on every level, without a look at whether it is JSON. */
export function countParts(bytes: Buffer): { keys: number; parts: number } {
  let [depth, keys, parts] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at += 1;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if (byte === COLON) {
      parts += 1;
      if (depth === 1) keys += 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      parts += 1;
      depth += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return { keys, parts };
}

/** What records are taken from, and by whom. */
export interface Scan {
  window: Window;
  /** The line that is read, counted from 1. */
  place: { line: number };
  /** Whether the bytes in the window are taken as they stand, even if they end within a record. */
  isEnd: () => boolean;
  take: (piece: { start: number; end: number }) => Promise<void>;
}

export async function scanLines({ window, place, isEnd, take }: Scan): Promise<void> {
  for (;;) {
    const piece = nextLine(window.bytes, window.start, isEnd());
    if (!piece) {
      if (window.final) return;
      await window.more();
      continue;
    }
    if (piece.end > piece.start) await take(piece);
    place.line += 1;
    window.start = piece.next;
    if (window.start < window.bytes.length) continue;
    if (window.final) return;
    await window.more();
  }
}

/** Reads the elements of a list, of which the window begins with the first. Answers how many there were, and whether the list was closed. */
export async function scanElements({ window, place, isEnd, take }: Scan): Promise<{ elements: number; closed: boolean }> {
  let counted = 0;
  const countLines = (end: number) => {
    for (; counted < end; counted += 1) if (window.bytes[counted] === LF) place.line += 1;
  };
  let elements = 0;
  let closed = false;
  while (!closed) {
    const piece = nextElement(window.bytes, window.start, isEnd());
    if (!piece) {
      if (window.final) break;
      countLines(window.start);
      await window.more();
      counted = 0;
      continue;
    }
    countLines(piece.start);
    const cutOff = !piece.last && piece.next >= window.bytes.length && window.final;
    // `[]` has no element; `[1,]` has a missing one; the end of a cut-off list is not an element when nothing stands there
    if (piece.end > piece.start || !(piece.last && elements === 0)) {
      if (piece.end > piece.start || !cutOff) await take(piece);
      elements += 1;
    }
    closed = piece.last;
    countLines(piece.next);
    window.start = piece.next;
    if (window.start >= window.bytes.length && !closed) {
      if (window.final) break;
      counted = 0;
      await window.more();
    }
  }
  return { elements, closed };
}
