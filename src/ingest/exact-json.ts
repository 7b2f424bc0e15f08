import { readJson, type RawNumber } from '../json.ts';

/** A value of JSON that keeps the digits of every number. */
export type ExactValue = string | number | boolean | null | RawNumber | readonly ExactValue[] | { readonly [key: string]: ExactValue };

/**
 * Keeps a number as it was written when JavaScript prints it in another way. A number that no double holds becomes text, because no engine can hold it
 * within a document.
 */
export const readExactNumber = (value: number, source: string): number | string | RawNumber =>
  String(value) === source ? value : Number.isFinite(value) ? JSON.rawJSON(source) : source;

/** Reads JSON and keeps the digits of every number; null when the text is not JSON. */
export function readExactValue(text: string): ExactValue {
  try {
    return readJson(text, readExactNumber) as ExactValue;
  } catch {
    return null;
  }
}

/**
 * A value as `token_class` in `pipelines/functions.sql` reads it: a letter for its JSON kind (n s b j), then its text. Null: no value. A text must be one that
 * a file can hold.
 */
export function printToken(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'boolean') return `b${value}`;
  if (typeof value === 'number') return `n${value}`;
  return JSON.isRawJSON(value) ? `n${value.rawJSON}` : `j${JSON.stringify(value)}`;
}
