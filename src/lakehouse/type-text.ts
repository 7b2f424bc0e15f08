import type { ColumnType } from './catalog.ts';

const simple = ['boolean', 'int', 'bigint', 'double', 'string', 'date', 'timestamp', 'timestamp_ntz', 'variant'] as const;

/** A column type under its Databricks name, as the catalogue keeps it: `DOUBLE`, `DECIMAL(38,2)`, `STRUCT<a: INT>`, `ARRAY<DOUBLE>`. */
export function typeText(type: ColumnType): string {
  if (type.kind === 'decimal') return `DECIMAL(${type.precision},${type.scale})`;
  if (type.kind === 'array') return `ARRAY<${typeText(type.element)}>`;
  if (type.kind === 'struct')
    return `STRUCT<${type.fields.map(({ name, type: inner }) => `\`${name.replaceAll('`', '``')}\`: ${typeText(inner)}`).join(', ')}>`;
  return type.kind.toUpperCase();
}

/** Reads what `typeText` wrote. Throws on anything else, which is a bug of ours. */
export function parseTypeText(text: string): ColumnType {
  const { type, rest } = parse(text.trim());
  if (rest !== '') throw new Error(`not a column type: ${text}`);
  return type;
}

function parse(text: string): { type: ColumnType; rest: string } {
  const word = /^[A-Za-z_]+/.exec(text)?.[0].toLowerCase() ?? '';
  let rest = text.slice(word.length).trimStart();
  const kind = simple.find((known) => known === word);
  if (kind !== undefined) return { type: { kind }, rest };
  if (word === 'decimal') {
    const size = /^\((\d+),\s*(\d+)\)/.exec(rest);
    if (size)
      return {
        type: { kind: 'decimal', precision: Number(size[1]), scale: Number(size[2]) },
        rest: rest.slice(size[0].length).trimStart(),
      };
  }
  if (word === 'array' && rest.startsWith('<')) {
    const element = parse(rest.slice(1).trimStart());
    if (element.rest.startsWith('>')) return { type: { kind: 'array', element: element.type }, rest: element.rest.slice(1).trimStart() };
  }
  if (word === 'struct' && rest.startsWith('<')) {
    const fields: { name: string; type: ColumnType }[] = [];
    rest = rest.slice(1).trimStart();
    while (!rest.startsWith('>')) {
      const name = /^(?:`((?:[^`]|``)*)`|([^\s:`<>,]+))\s*:?\s*/.exec(rest);
      if (!name) throw new Error(`not a column type: ${text}`);
      const field = parse(rest.slice(name[0].length));
      fields.push({ name: name[1]?.replaceAll('``', '`') ?? name[2] ?? '', type: field.type });
      rest = field.rest.startsWith(',') ? field.rest.slice(1).trimStart() : field.rest;
    }
    return { type: { kind: 'struct', fields }, rest: rest.slice(1).trimStart() };
  }
  throw new Error(`not a column type: ${text}`);
}
