/** Finds the columns of the catalogue by paths as callers write them. */
import type { Column, ColumnType } from '../terms/catalog.ts';
import { suggestNames } from '../terms/near.ts';
import type { Expr } from '../terms/plan.ts';
import { refuseParameter, shortenName } from '../terms/refusal.ts';
import { readMember, splitType, type Resolved } from './members.ts';
import { printType } from '../terms/types.ts';

/** Splits a path: `a.b` → ['a', 'b']; `"a.b".c` → ['a.b', 'c']. Either kind of quote works, doubled inside a name. Null when quotes do not pair up. */
export const parsePath = (asked: string): string[] | null => {
  const parts: string[] = [];
  const segment = /\s*(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`][^.]*))\s*(\.|$)/y;
  while (segment.lastIndex < asked.length) {
    const found = segment.exec(asked);
    if (!found) return null;
    const [, double, back, plain, end] = found;
    parts.push(double?.replaceAll('""', '"') ?? back?.replaceAll('``', '`') ?? plain?.trim() ?? '');
    if (end === '') return parts;
    if (segment.lastIndex >= asked.length) return null;
  }
  return null;
};

/** Makes the expression that reads a column from a scan, or from the relation to which a derived column was added. */
export const makeColumnExpr = (column: Column): Expr => ({ kind: 'column', name: column.name, type: column.type });

/** Makes what a column is resolved to under its own name. */
export const makeResolved = (column: Column): Resolved => ({ name: column.name, type: column.type, expr: makeColumnExpr(column), column });

/** Whether a path of fields leads somewhere in values of a type. */
const hasFields = (type: ColumnType, [name, ...deeper]: readonly string[]): boolean =>
  name === undefined || (type.kind === 'struct' && type.fields.some((field) => field.name === name && hasFields(field.type, deeper)));

const fieldsOf = (resolved: Resolved, fields: readonly string[], where: string, asked: string): Resolved => {
  let { type, expr } = resolved;
  for (const name of fields) {
    const field = type.kind === 'struct' ? type.fields.find((candidate) => candidate.name === name) : undefined;
    if (!field) {
      const known = type.kind === 'struct' ? type.fields.map((candidate) => candidate.name) : null;
      const has = known ? suggestNames(name, known) : ` Its type is ${printType(type)}.`;
      throw refuseParameter(
        where,
        `'${shortenName(asked)}' reaches for a field '${shortenName(name)}' that column '${shortenName(resolved.column.name)}' does not have.${has}`,
      );
    }
    type = field.type;
    expr = { kind: 'field', of: expr, name: field.name, type };
  }
  return { name: [resolved.name, ...fields].join('.'), type, expr, column: resolved.column };
};

/**
 * Makes a lookup over one table's visible columns. When a name is both a column and a path into a struct, the path wins unless it leads nowhere. The lookup
 * throws a 400 that names the column and near matches. `where` is the parameter, as in `filters/2/column`.
 */
export const makeResolver = (columns: readonly Column[]) => {
  const visible = new Map(columns.filter((column) => !column.hidden).map((column) => [column.name, column]));
  return (asked: string, where: string): Resolved => {
    const whole = visible.get(asked);
    const split = asked.includes('::') && !whole ? splitType(asked, where) : { path: asked, type: null };
    const [first, ...fields] = parsePath(split.path) ?? [];
    const column = first === undefined ? undefined : visible.get(first);
    if (whole && !(column && hasFields(column.type, fields))) return makeResolved(whole);
    if (!column)
      throw refuseParameter(where, `This table has no column '${shortenName(asked)}'.${suggestNames(first ?? asked, visible.keys())}`);
    const found = makeResolved(column);
    if (column.type.kind === 'variant' && fields.length > 0) return readMember(found, fields, split.type, where);
    if (split.type)
      throw refuseParameter(where, `'${shortenName(asked)}' names a type; only members of a document take one, such as data.phi2::double.`);
    return fieldsOf(found, fields, where, asked);
  };
};
export type Resolve = ReturnType<typeof makeResolver>;
