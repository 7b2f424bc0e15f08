import { createHash } from 'node:crypto';
import type { Sql } from 'sql-template-tag';
import sqlTemplate, { empty, join, raw, type RawValue } from 'sql-template-tag';

/** One labelled statement with bound values. The label names it in logs, metrics and prepared statements. */
export interface Query {
  label: string;
  text: string;
  values: readonly unknown[];
  /**
   * Whether the answer comes in binary form, for a statement whose columns are all `bytea` or `text`. The driver reads text as UTF-8: bytes that are not UTF-8
   * become U+FFFD.
   */
  binary?: boolean;
  /** The name of the prepared statement: the label and a digest of the text, so that one name never means two texts. */
  name: string;
}

const names = new Map<string, string>();

function preparedName(label: string, text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `${label.slice(0, 40)}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  if (names.size < 5_000) names.set(text, name);
  return name;
}

/**
 * `sql('experiments.list')`select … where id = ${id}`` binds every value. Interpolate `fragment`…`` for optional parts;
 * there is no way to interpolate text.
 */
export const sql =
  (label: string) =>
  (strings: readonly string[], ...values: readonly RawValue[]): Query => {
    const statement = sqlTemplate(strings, ...values);
    const text = statement.text;
    return { label, text, values: statement.values, name: preparedName(label, text) };
  };

/** The tag of a statement's text, which `sql` makes from a label. */
export type Labelled = ReturnType<typeof sql>;

/** A piece of a statement, with its own bound values. */
export type Fragment = Sql;

export const fragment = (strings: readonly string[], ...values: readonly RawValue[]): Fragment => sqlTemplate(strings, ...values);

export const nothing: Fragment = empty;

/** Joins pieces by commas. There must be at least one. */
export const list = (pieces: readonly Fragment[]): Fragment => join(pieces);

/** Makes a fragment from a word of ours in a closed set (a column of an order by). It is never called with text that a caller sent. */
export const keyword = (word: string): Fragment => {
  if (!/^[a-z_][a-z0-9_.]*( (asc|desc))?( nulls (first|last))?$/.test(word)) throw new Error(`not a keyword: ${word}`);
  return raw(word);
};

/**
 * Prints a whole number into the text of a statement, where the planner has to know it: of a bound LIMIT it expects a tenth of the rows, and so it plans the
 * statement anew each time. It is for a closed set of numbers, since each makes a prepared statement of its own.
 */
export const constant = (number: number): Fragment => {
  if (!Number.isSafeInteger(number)) throw new Error(`not a whole number: ${number}`);
  return raw(String(number));
};
