/** Reads members of JSON documents: `data.phi2`, `data."a.b".c`, and with a type `data.phi2::double`. */
import { BIGINT, BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, type Column, type ColumnType } from '../terms/catalog.ts';
import type { Expr, MemberType } from '../terms/plan.ts';
import type { Filter } from './request.ts';
import { suggestNames } from '../terms/near.ts';
import { refuseParameter, shortenName } from '../terms/refusal.ts';

/** A column, or a field of one, that a caller named. */
export interface Resolved {
  /** The name in the answer: the column's own name, or the dotted path. */
  name: string;
  type: ColumnType;
  expr: Expr;
  column: Column;
  /** Set for a member of a document without a stated type. The member is read as the type that its use needs. */
  isUntyped?: true;
}

const TYPES: Readonly<Record<MemberType['kind'], MemberType>> = {
  string: STRING,
  double: DOUBLE,
  bigint: BIGINT,
  boolean: BOOLEAN,
  date: DATE,
  timestamp: TIMESTAMP,
};

const MOST_KEYS = 32;
const LONGEST_KEY = 255;
/** Keys that cannot be looked for: paths are written with these characters, one of the engines cannot look for them, or one drops them. */
const UNSPEAKABLE = /['"`?\\\p{Cc}]|^ |^\*$/u;

const isType = (name: string): name is MemberType['kind'] => Object.hasOwn(TYPES, name);

/** Splits a name that ends with a type into its path and the type: `a.b::double` → `a.b` and DOUBLE. */
export const splitType = (asked: string, where: string): { path: string; type: MemberType | null } => {
  const [, path = asked, name] = /^([^]*)::([A-Za-z_0-9]+)$/.exec(asked) ?? [];
  if (name === undefined) return { path, type: null };
  const kind = name.toLowerCase();
  if (isType(kind)) return { path, type: TYPES[kind] };
  const known = Object.keys(TYPES);
  throw refuseParameter(
    where,
    `'${shortenName(name)}' is no type that a member can be read as; those are ${known.join(', ')}.${suggestNames(name, known)}`,
  );
};

/** Finds the member of a document at a path of keys. Throws a 400 in words. */
export const readMember = (resolved: Resolved, keys: readonly string[], type: MemberType | null, where: string): Resolved => {
  if (keys.length > MOST_KEYS) throw refuseParameter(where, `A path into a document has at most ${MOST_KEYS} keys.`);
  for (const key of keys) {
    if (key.length > LONGEST_KEY) throw refuseParameter(where, `The key '${shortenName(key)}' is longer than ${LONGEST_KEY} characters.`);
    if (UNSPEAKABLE.test(key) || !key.isWellFormed())
      throw refuseParameter(
        where,
        `The key '${shortenName(key)}' cannot be looked for: it is *, begins with a blank, or holds a quote, a backtick, a backslash, a question mark or a control character.`,
      );
  }
  const made = type ?? STRING;
  const path = [resolved.name, ...keys.map((key) => (/[.,\s]|::/.test(key) ? `"${key}"` : key))].join('.');
  const name = type ? `${path}::${type.kind}` : path;
  return {
    ...resolved,
    name,
    type: made,
    expr: { kind: 'member', of: resolved.expr, keys, type: made },
    ...(type ? {} : { isUntyped: true }),
  };
};

const read = (resolved: Resolved, type: MemberType): Resolved =>
  resolved.isUntyped && resolved.expr.kind === 'member' ? { ...resolved, type, expr: { ...resolved.expr, type } } : resolved;

/** Reads a member without a type of its own as a number. Anything else stays as it is. */
export const readAsNumber = (resolved: Resolved): Resolved => read(resolved, DOUBLE);

/** Reads a member without a type of its own as the type of the value that it is compared with. */
export const readAsCompared = (resolved: Resolved, value: Filter['value']): Resolved => {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > 0 && values.every((each) => typeof each === 'number' || typeof each === 'bigint' || JSON.isRawJSON(each)))
    return readAsNumber(resolved);
  return values.length > 0 && values.every((each) => typeof each === 'boolean') ? read(resolved, BOOLEAN) : resolved;
};
