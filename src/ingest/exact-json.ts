import { readJson, type RawNumber } from '../json.ts';

/** What `exactRecord` answers. */
export type ExactValue = string | number | boolean | null | RawNumber | readonly ExactValue[] | { readonly [key: string]: ExactValue };

/** A number as it is written, where JavaScript prints it in another way; one that no double holds is text, because no engine has a number for it within a document. */
export const exactNumber = (value: number, source: string): number | string | RawNumber =>
  String(value) === source ? value : Number.isFinite(value) ? JSON.rawJSON(source) : source;

/** Reads JSON and keeps the digits of every number. Throws SyntaxError. */
export const exactRecord = (text: string): unknown => readJson(text, exactNumber);

/** The same, null when the text is not JSON. */
export function exactValue(text: string): ExactValue {
  try {
    return exactRecord(text) as ExactValue;
  } catch {
    return null;
  }
}

const wellFormed = (value: string) => value.toWellFormed().replaceAll('\0', '\ufffd');

/** A value as `pipelines/functions.sql` reads it: a letter for its JSON kind (n s b j), then its text. Null: no value. */
export function tokenOf(value: ExactValue): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return `s${wellFormed(value)}`;
  if (typeof value === 'boolean') return `b${value}`;
  if (typeof value === 'number') return `n${value}`;
  if (JSON.isRawJSON(value)) return `n${value.rawJSON}`;
  return `j${wellFormed(JSON.stringify(value))}`;
}
