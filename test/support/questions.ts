/** Random questions about a table: what the address of its page can hold, drawn from the columns and values that are there. */
import type { Call } from './server.ts';

export interface Filter {
  column: string;
  operator: string;
  value?: unknown;
}
interface Aggregation {
  groupBy: { column: string; timeBucket?: string; timezone?: string }[];
  functions: { column: string; function: string; alias?: string; secondColumn?: string }[];
}
/** The search of a table's page. */
export interface Asked {
  columns?: string[];
  orderBy?: string;
  orderDirection?: 'ASC' | 'DESC';
  filters?: Filter[];
  aggregation?: Aggregation;
  asOf?: number;
}

type Kind = 'text' | 'number' | 'moment' | 'boolean' | 'flags' | 'other';
interface Column {
  /** As a question names it, maybe a member of a document. */
  name: string;
  kind: Kind;
  /** Values that are in it, without those that are missing. */
  values: unknown[];
}
/** A table to ask about. */
export interface Subject {
  identifier: string;
  displayName: string;
  /** Versions that can be read. */
  versions: readonly number[];
  columns: readonly Column[];
}

const COMPARED = [
  'equals',
  'not_equals',
  'greater_than',
  'greater_than_or_equal',
  'less_than',
  'less_than_or_equal',
  'between',
  'in',
  'not_in',
];
const MISSING = ['is_null', 'is_not_null'];
/** Every condition that a column of a kind takes. */
const OPERATORS: Readonly<Record<Kind, readonly string[]>> = {
  text: [...COMPARED, 'contains', 'starts_with', ...MISSING],
  number: [...COMPARED, ...MISSING],
  moment: [...COMPARED, ...MISSING],
  boolean: ['equals', 'not_equals', 'in', ...MISSING],
  flags: ['has_flag', 'has_no_flag'],
  other: MISSING,
};
const FUNCTIONS: Readonly<Record<Kind, readonly string[]>> = {
  text: ['count', 'count_distinct', 'min', 'max', 'first', 'last'],
  number: [
    'avg',
    'sum',
    'count',
    'min',
    'max',
    'median',
    'std',
    'var',
    'sem',
    'ci95',
    'p05',
    'p95',
    'first',
    'last',
    'count_distinct',
    'cumsum',
    'corr',
  ],
  moment: ['count', 'count_distinct', 'min', 'max', 'first', 'last'],
  boolean: ['count', 'count_distinct', 'first', 'last'],
  flags: ['count'],
  other: ['count'],
};
const BUCKETS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata'];
export const FLAGS = ['outlier', 'needs_review'];

const kindOf = (name: string, type: string): Kind =>
  name === 'annotations'
    ? 'flags'
    : /^(DOUBLE|INT|BIGINT|DECIMAL)/.test(type)
      ? 'number'
      : /^(TIMESTAMP|DATE)/.test(type)
        ? 'moment'
        : type === 'BOOLEAN'
          ? 'boolean'
          : type === 'STRING'
            ? 'text'
            : 'other';

/** Reads what a table has; `members` are paths into its documents that can be asked for as columns. */
export async function describeSubject(
  call: Call,
  experimentId: string,
  displayName: string,
  { versions = [], members = {} }: { versions?: readonly number[]; members?: Readonly<Record<string, Kind>> } = {},
): Promise<Subject> {
  const tables = (await call('GET', `/api/v1/experiments/${experimentId}/tables`)).body as {
    identifier: string;
    displayName: string;
    columns: { name: string; type: string }[];
  }[];
  const table = tables.find((one) => one.displayName === displayName)!;
  const named = [
    ...table.columns.map(({ name, type }) => ({ name: /^\w+$/.test(name) ? name : `"${name}"`, shown: name, kind: kindOf(name, type) })),
    ...Object.entries(members).map(([name, kind]) => ({ name, shown: name, kind })),
  ];
  const columns = JSON.stringify(named.map(({ name }) => name));
  const query = { tableName: table.identifier, columns, limit: 150 };
  const { body } = await call('GET', `/api/v1/experiments/${experimentId}/data`, { query });
  const rows = body[0].data.rows as Record<string, unknown>[];
  return {
    identifier: table.identifier,
    displayName,
    versions,
    columns: named.map(({ name, shown, kind }) => ({
      name,
      kind,
      values: rows.map((row) => row[shown]).filter((value) => value !== null && value !== undefined && value !== ''),
    })),
  };
}

/** Draws questions. Conditions, functions and buckets come in turn, so that enough draws have had them all. */
export class Drawing {
  /** What was drawn: `filter text contains`, `function avg`. */
  readonly had = new Set<string>();
  readonly #random: () => number;
  readonly #next = new Map<string, number>();
  constructor(random: () => number) {
    this.#random = random;
  }
  chance(share: number): boolean {
    return this.#random() < share;
  }
  pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.#random() * from.length)];
    if (found === undefined) throw new Error('there is nothing to pick from');
    return found;
  }
  some<T>(from: readonly T[], least: number, most: number): T[] {
    const left = [...from];
    const count = Math.min(left.length, least + Math.floor(this.#random() * (most - least + 1)));
    return Array.from({ length: count }, () => left.splice(Math.floor(this.#random() * left.length), 1)[0] as T);
  }
  /** The next of a list, beginning anywhere. */
  turn(name: string, list: readonly string[]): string {
    const at = this.#next.get(name) ?? Math.floor(this.#random() * list.length);
    this.#next.set(name, at + 1);
    const drawn = list[at % list.length] ?? '';
    this.had.add(`${name} ${drawn}`);
    return drawn;
  }

  #filter(subject: Subject): Filter {
    const kinds = [...new Set(subject.columns.map(({ kind }) => kind))];
    const kind = this.pick(kinds);
    const column = this.pick(subject.columns.filter((one) => one.kind === kind && (one.values.length > 0 || kind === 'other')));
    const operator = this.turn(`filter ${kind}`, OPERATORS[kind]);
    const base = { column: column.name, operator };
    if (MISSING.includes(operator)) return base;
    if (kind === 'flags') return { ...base, value: this.chance(0.5) ? this.pick(FLAGS) : this.some(FLAGS, 1, 2) };
    const value = () => this.pick(column.values);
    if (operator === 'between')
      return { ...base, value: [value(), value()].sort((a, b) => Number(a) - Number(b) || String(a).localeCompare(String(b))) };
    if (operator === 'in' || operator === 'not_in')
      return { ...base, value: Array.from({ length: 1 + Math.floor(this.#random() * 4) }, value) };
    if (operator !== 'contains' && operator !== 'starts_with') return { ...base, value: value() };
    const text = String(value());
    const from = operator === 'starts_with' ? 0 : Math.floor(this.#random() * text.length);
    return { ...base, value: text.slice(from, from + 1 + Math.floor(this.#random() * 4)) };
  }

  #aggregation(subject: Subject): Aggregation {
    const plain = subject.columns.filter(({ kind }) => kind !== 'flags' && kind !== 'other');
    const groupBy = this.some(
      plain.filter(({ values }) => new Set(values).size <= 40 || values.length < 2),
      0,
      3,
    ).map(({ name }) => ({ column: name }));
    const moments = plain.filter(({ kind }) => kind === 'moment');
    const timed =
      moments.length > 0 && this.chance(0.5)
        ? [
            {
              column: this.pick(moments).name,
              timeBucket: this.turn('bucket', BUCKETS),
              ...(this.chance(0.3) ? { timezone: this.pick(ZONES) } : {}),
            },
          ]
        : [];
    const keys = [...timed, ...groupBy.filter(({ column }) => timed[0]?.column !== column)].slice(0, 3);
    const used = new Set<string>();
    const functions = Array.from({ length: this.chance(0.3) ? 2 : 1 }, (_, at) => {
      if (this.chance(0.15)) return { column: '*', function: 'count', ...(at === 0 ? {} : { alias: 'rows' }) };
      const column = this.pick(plain);
      const name = this.turn(`function ${column.kind}`, FUNCTIONS[column.kind]);
      const second = name === 'corr' ? { secondColumn: this.pick(plain.filter(({ kind }) => kind === 'number')).name } : {};
      return { column: column.name, function: name, ...second, ...(this.chance(0.3) ? { alias: `what ${at}` } : {}) };
    }).filter((one) => {
      const name = `${one.column} ${one.function}`;
      return !used.has(name) && used.add(name);
    });
    return { groupBy: keys, functions };
  }

  /** A question that the table may be asked. */
  draw(subject: Subject): Asked {
    const asked: Asked = {};
    const filters = Array.from({ length: Math.floor(this.#random() * 3) }, () => this.#filter(subject));
    if (filters.length > 0) asked.filters = filters;
    if (subject.versions.length > 0 && this.chance(0.25)) asked.asOf = this.pick(subject.versions);
    if (this.chance(0.35)) {
      asked.aggregation = this.#aggregation(subject);
      const [first] = asked.aggregation.functions;
      if (first?.alias !== undefined && this.chance(0.5)) asked.orderBy = first.alias;
    } else {
      const readable = subject.columns.map(({ name }) => name);
      if (this.chance(0.4)) asked.columns = this.some(readable, 1, 6);
      if (this.chance(0.5)) asked.orderBy = this.pick(subject.columns.filter(({ kind }) => kind !== 'flags' && kind !== 'other')).name;
    }
    if (asked.orderBy !== undefined && this.chance(0.7)) asked.orderDirection = this.pick(['ASC', 'DESC'] as const);
    return asked;
  }
}

/** What enough draws must have had. */
export const everythingDrawn = (subjects: readonly Subject[]): string[] => {
  const kinds = [...new Set(subjects.flatMap(({ columns }) => columns.map(({ kind }) => kind)))];
  return [
    ...kinds.flatMap((kind) => OPERATORS[kind].map((operator) => `filter ${kind} ${operator}`)),
    ...FUNCTIONS.number.map((name) => `function number ${name}`),
    ...BUCKETS.map((bucket) => `bucket ${bucket}`),
  ];
};
