import { BOOLEAN, DOUBLE, TIMESTAMP, TIMESTAMP_NTZ, makeDecimal, type ColumnType } from './catalog.ts';
import { isCalendar, type Expr } from './plan.ts';
import { quoteWithBackticks } from './quoting.ts';

const SCALAR_NAMES = {
  boolean: 'BOOLEAN',
  int: 'INT',
  bigint: 'BIGINT',
  double: 'DOUBLE',
  string: 'STRING',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  timestamp_ntz: 'TIMESTAMP_NTZ',
  variant: 'VARIANT',
} as const;

type ScalarKind = keyof typeof SCALAR_NAMES;

const fieldName = (name: string) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quoteWithBackticks(name));

/** Prints the Databricks type text: `DOUBLE`, `DECIMAL(10,2)`, `STRUCT<id: STRING, name: STRING>`. `parseType` reads it back. */
export const printType = (type: ColumnType): string => {
  switch (type.kind) {
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'struct':
      return `STRUCT<${type.fields.map((field) => `${fieldName(field.name)}: ${printType(field.type)}`).join(', ')}>`;
    case 'array':
      return `ARRAY<${printType(type.element)}>`;
    case 'boolean':
    case 'int':
    case 'bigint':
    case 'double':
    case 'string':
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'variant':
      return SCALAR_NAMES[type.kind];
  }
};

/** Prints the type's name without its parameters: `DECIMAL`, `STRUCT`. */
export const nameType = (type: ColumnType): string =>
  type.kind === 'decimal' || type.kind === 'struct' || type.kind === 'array' ? type.kind.toUpperCase() : SCALAR_NAMES[type.kind];

const BY_NAME: Readonly<Record<string, ScalarKind>> = {
  ...(Object.fromEntries(Object.entries(SCALAR_NAMES).map(([kind, name]) => [name, kind])) as Record<string, ScalarKind>),
  VARCHAR: 'string',
  CHAR: 'string',
  TINYINT: 'int',
  SMALLINT: 'int',
  INTEGER: 'int',
  LONG: 'bigint',
  FLOAT: 'double',
  REAL: 'double',
};

const MAX_DEPTH = 32;

class TypeReader {
  #at = 0;
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  whole(): ColumnType {
    const type = this.#type(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#unreadable();
    return type;
  }

  #type(depth: number): ColumnType {
    if (depth > MAX_DEPTH) throw this.#unreadable();
    const name = this.#match(/[A-Za-z_]+/y)?.toUpperCase() ?? '';
    if (name === 'DECIMAL' || name === 'NUMERIC') {
      const [precision = '10', scale = '0'] = this.#match(/\(\s*\d+\s*(,\s*\d+\s*)?\)/y)?.match(/\d+/g) ?? [];
      return makeDecimal(Number(precision), Number(scale));
    }
    if (name === 'ARRAY') {
      this.#expect('<');
      const element = this.#type(depth + 1);
      this.#expect('>');
      return { kind: 'array', element };
    }
    if (name === 'STRUCT') return this.#struct(depth);
    const kind = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
    if (!kind) throw this.#unreadable();
    return { kind };
  }

  #struct(depth: number): ColumnType {
    this.#expect('<');
    const fields: { name: string; type: ColumnType }[] = [];
    do {
      const quoted = this.#match(/`(?:[^`]|``)+`/y);
      const name = quoted ? quoted.slice(1, -1).replaceAll('``', '`') : this.#match(/[^\s:<>,`]+/y);
      if (!name) throw this.#unreadable();
      this.#match(/:/y);
      fields.push({ name, type: this.#type(depth + 1) });
    } while (this.#match(/,/y));
    this.#expect('>');
    return { kind: 'struct', fields };
  }

  #space() {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #match(pattern: RegExp): string | undefined {
    this.#space();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #expect(character: string) {
    this.#space();
    if (this.#text[this.#at] !== character) throw this.#unreadable();
    this.#at += 1;
  }

  #unreadable() {
    return new Error(`Not a column type, at character ${this.#at + 1}: ${this.#text.slice(0, 200)}`);
  }
}

/** Reads Databricks type text (as `printType` writes it, or with the usual synonyms). Throws on anything else: the text is ours. */
export const parseType = (text: string): ColumnType => new TypeReader(text).whole();

/** Finds the type of an expression's value. */
export const inferExprType = (expr: Expr): ColumnType => {
  switch (expr.kind) {
    case 'compare':
    case 'in':
    case 'text':
    case 'missing':
    case 'holds':
    case 'every':
    case 'some':
      return BOOLEAN;
    case 'bucket':
      return expr.zone !== null && isCalendar(expr.unit) ? TIMESTAMP_NTZ : inferExprType(expr.of);
    case 'instant':
      return TIMESTAMP;
    case 'distance':
      return DOUBLE;
    case 'column':
    case 'field':
    case 'member':
    case 'value':
    case 'struct':
    case 'list':
    case 'coalesce':
    case 'digest':
    case 'aggregate':
    case 'running':
      return expr.type;
  }
};
