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

const wellFormed = (value: string) => value.toWellFormed().replaceAll('\0', '\ufffd');

/** A value as `pipelines/functions.sql` reads it: a letter for its JSON kind (n s b j), then its text. Null: no value. */
export function printToken(value: ExactValue): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return `s${wellFormed(value)}`;
  if (typeof value === 'boolean') return `b${value}`;
  if (typeof value === 'number') return `n${value}`;
  if (JSON.isRawJSON(value)) return `n${value.rawJSON}`;
  return `j${wellFormed(JSON.stringify(value))}`;
}
