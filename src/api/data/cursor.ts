/** Cursors: places in the order of a read, as text that only this service can write. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { errors } from '../../errors.ts';
import { readJson } from '../../json.ts';
import type { Seek } from '../../lakehouse/ask/request.ts';

/** A place in one version of a table. */
export interface Cursor extends Seek {
  /** The version whose rows are paged. */
  version: number;
}

/** The parameters that decide which rows a read gives, and in which order. Two reads with the same parts can use each other's cursors. */
export type CursorScope = readonly (string | number | boolean | null | undefined)[];

const SEAL = 16;

const seal = (secret: Buffer, bytes: Buffer): Buffer =>
  createHmac('sha256', secret).update('data cursor').update(bytes).digest().subarray(0, SEAL);

const digest = (scope: CursorScope): string => createHash('sha256').update(JSON.stringify(scope)).digest('base64url').slice(0, 16);

const refused = (message: string) => errors.invalidInput().with({ problems: [{ path: '?cursor', message }] });

/** Writes a cursor as text that can stand in a URL. */
export function writeCursor(secret: Buffer, scope: CursorScope, { keys, back, position, total, version }: Cursor): string {
  const bytes = Buffer.from(JSON.stringify([digest(scope), version, back, position, total, keys]));
  return Buffer.concat([seal(secret, bytes), bytes]).toString('base64url');
}

/** Reads a cursor back. Throws `invalidInput` on text that this service did not write, and on a cursor of another read. */
export function readCursor(secret: Buffer, scope: CursorScope, text: string): Cursor {
  const whole = /^[A-Za-z0-9_-]{1,8192}$/.test(text) ? Buffer.from(text, 'base64url') : Buffer.alloc(0);
  const [mark, bytes] = [whole.subarray(0, SEAL), whole.subarray(SEAL)];
  if (mark.length < SEAL || !timingSafeEqual(mark, seal(secret, bytes)))
    throw refused('Is not a cursor that this service gave; take it from the Link header of a page, unchanged.');
  const [of, version, back, position, total, keys] = readJson(bytes.toString('utf8')) as [
    string,
    number,
    boolean,
    number,
    number,
    (string | null)[],
  ];
  if (of !== digest(scope))
    throw refused('Belongs to another read: the table, its filters and its order must be those of the page that gave it.');
  return { keys, back, position, total, version };
}
