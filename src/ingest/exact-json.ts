/** A number as it was written, where a JavaScript number would print another way. */
interface RawNumber {
  readonly rawJSON: string;
}
export type ExactValue = string | number | boolean | null | RawNumber | readonly ExactValue[] | { readonly [key: string]: ExactValue };

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

const parse = JSON.parse as (text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown) => unknown;

/** Parses JSON and keeps the digits of every number; null when the text is not JSON. */
export function exactJson(text: string): ExactValue {
  try {
    return parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value) ? JSON.rawJSON(source) : value,
    ) as ExactValue;
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
