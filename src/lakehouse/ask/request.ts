/** Reads what a caller asks of a table into bounded plain data, before anyone looks at the table. */
import { z } from 'zod';
import { errors, type Problem } from '../../errors.ts';
import { LONG_NUMBER, readJson, type RawNumber } from '../../json.ts';
import { isSameNumber } from './plain-decimal.ts';
import { suggestNames } from '../terms/near.ts';
import { BUCKETS, type Bucket } from '../terms/plan.ts';

export const OPERATORS = [
  'equals',
  'not_equals',
  'greater_than',
  'less_than',
  'greater_than_or_equal',
  'less_than_or_equal',
  'between',
  'contains',
  'in',
  'not_in',
  'is_null',
  'is_not_null',
  'starts_with',
  'has_flag',
  'has_no_flag',
] as const;
export type Operator = (typeof OPERATORS)[number];

export const FUNCTIONS = [
  'sum',
  'avg',
  'count',
  'min',
  'max',
  'std',
  'var',
  'sem',
  'ci95',
  'median',
  'p05',
  'p95',
  'first',
  'last',
  'cumsum',
  'corr',
  'count_distinct',
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** A value as it was sent. Integers that a double cannot hold are bigints, and other such numbers their own text. */
export type Operand = string | number | bigint | boolean | RawNumber;

export interface Filter {
  column: string;
  operator: Operator;
  value?: Operand | readonly Operand[] | null;
}

export interface GroupKey {
  column: string;
  timeBucket?: Bucket;
  /** IANA name; UTC when absent. */
  timezone?: string;
}

export interface FunctionCall {
  column: string;
  function: FunctionName;
  alias?: string;
  secondColumn?: string;
}

export interface Aggregation {
  groupBy: readonly GroupKey[];
  functions: readonly FunctionCall[];
}

export interface ReadRequest {
  /** Column paths as asked (`contributor.name`, `"a.b"`). When absent or empty, every visible column. */
  columns?: readonly string[];
  orderBy?: string;
  orderDirection?: 'ASC' | 'DESC';
  filters?: readonly Filter[];
  aggregation?: Aggregation;
  page?: number;
  pageSize?: number;
  limit?: number;
  /** The share of the rows of a plain read that is answered: the same ones each time, from all over the table. `readSample` sets it. */
  share?: number;
  /** Where a page begins, instead of its number. */
  seek?: Seek;
}

/** A place between two rows of a read without an aggregation, in its order. */
export interface Seek {
  /** The exact texts of the sort values of the row before the place or, looking back, of the row after it. */
  keys: readonly (string | null)[];
  /** Whether the page ends at the place, instead of beginning there. */
  back: boolean;
  /** The number of rows before the place. */
  position: number;
  /** The number of rows that match. */
  total: number;
}

/** The query parameters of a read as they arrive: `columns`, `filters` and `aggregation` are text. */
export interface ReadParameters {
  columns?: string;
  orderBy?: string;
  orderDirection?: string;
  filters?: string;
  aggregation?: string;
  page?: number;
  pageSize?: number;
  limit?: number;
}

export const MAX_FILTERS = 100;
const MAX_VALUES = 1000;
const MAX_COLUMNS = 1000;
export const MAX_LIMIT = 100_000;
const MAX_TEXT = 262_144;
const MAX_NAME = 1024;
const MAX_VALUE = 65_536;
const MAX_GROUPS = 20;
const MAX_FUNCTIONS = 100;

const name = z.string().min(1).max(MAX_NAME);
const plain = [z.string().max(MAX_VALUE), z.number(), z.boolean()] as const;
const OPERAND_ERROR = { error: 'must be text, a number or true or false' };

/** The operand of a filter that is stored as JSON, which has no bigints. */
export const storedOperand = z.union(plain, OPERAND_ERROR);
const operand = z.union([...plain, z.bigint(), z.custom<RawNumber>(JSON.isRawJSON)], OPERAND_ERROR);

/** Makes the shape of what a filter compares with. */
export const makeValueShape = <T extends Operand>(of: z.ZodType<T>) =>
  z.union([of, z.array(of).max(MAX_VALUES), z.null()], {
    error: ({ input }) =>
      [input].flat().some(JSON.isRawJSON) ? LONG_NUMBER : `must be one value or an array of at most ${MAX_VALUES} values`,
  });

/** Makes the shape of a filter over such operands. It refuses unknown keys. */
export const makeFilterShape = <T extends Operand>(of: z.ZodType<T>) =>
  z.strictObject({
    column: name.describe('Column as a read names it.'),
    operator: z.enum(OPERATORS).describe('How the column is compared with `value`.'),
    value: makeValueShape(of).optional().describe('A value, or an array of values, as in a data read.'),
  });

export const aggregationShape = z.strictObject({
  groupBy: z
    .array(z.strictObject({ column: name, timeBucket: z.enum(BUCKETS).optional(), timezone: z.string().min(1).max(64).optional() }))
    .max(MAX_GROUPS)
    .default([]),
  functions: z
    .array(
      z.strictObject({
        column: name,
        function: z.enum(FUNCTIONS),
        alias: z
          .string()
          .min(1)
          .max(255)
          .refine((text) => !text.includes('\0'), 'must be text without NUL characters')
          .optional(),
        secondColumn: name.optional(),
      }),
    )
    .max(MAX_FUNCTIONS)
    .default([]),
});
const filters = z.array(makeFilterShape(operand)).max(MAX_FILTERS);

const KEYS = ['column', 'operator', 'value', 'groupBy', 'functions', 'timeBucket', 'timezone', 'function', 'alias', 'secondColumn'];

const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

const EXPECTED: Readonly<Record<string, string>> = { string: 'text', array: 'an array' };
/** Objects that can stand where something else was sent, by the member or parameter whose array they are in. */
const SAMPLES: Readonly<Record<string, string>> = {
  filters: '{"column": "plot", "operator": "equals", "value": 7}',
  groupBy: '{"column": "plot"}',
  functions: '{"column": "spad", "function": "avg"}',
  aggregation: '{"groupBy": [{"column": "plot"}], "functions": [{"column": "spad", "function": "avg"}]}',
};

/** Says what should stand where something of another type does, or that it is missing. */
function describeExpected(where: string, { expected, message, path }: z.core.$ZodIssueInvalidType): string {
  if (message.endsWith('received undefined')) return 'Is missing.';
  if (expected !== 'object') return `Must be ${EXPECTED[expected] ?? `a ${expected}`}.`;
  const sample = SAMPLES[path.findLast((part) => typeof part === 'string') ?? where];
  return `Must be an object${sample === undefined ? '' : `, such as ${sample}`}.`;
}

const problemsOf = (where: string, issues: readonly z.core.$ZodIssue[]): Problem[] => {
  const problems: Problem[] = [];
  for (const issue of issues.slice(0, 20)) {
    const path = issue.path.reduce<string>((text, part) => `${text}/${short(String(part))}`, `?${where}`);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, 3)) problems.push({ path, message: `Unknown key '${short(key)}'.${suggestNames(key, KEYS)}` });
    } else if (issue.code === 'invalid_value') {
      problems.push({ path, message: `Must be one of ${issue.values.map(String).join(', ')}.` });
    } else if (issue.code === 'invalid_type') problems.push({ path, message: describeExpected(where, issue) });
    else {
      problems.push({ path, message: issue.message.slice(0, 200) });
    }
  }
  return problems.slice(0, 20);
};

const refuse = (where: string, message: string) => errors.invalidInput().with({ problems: [{ path: `?${where}`, message }] });

/** Keeps the digits of numbers that a double cannot hold, so that no filter silently compares with a neighbouring number. */
const keepDigits = (value: number, source: string) => {
  if (/^-?\d{1,40}$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source);
  return isSameNumber(source, String(value)) ? value : JSON.rawJSON(source);
};

const bounded = <T>(where: string, text: string, schema: z.ZodType<T>): T => {
  if (text.length > MAX_TEXT) throw refuse(where, `Is longer than ${MAX_TEXT} characters.`);
  let value: unknown;
  try {
    value = readJson(text, keepDigits);
  } catch {
    throw refuse(where, 'Is not valid JSON.');
  }
  const result = schema.safeParse(value);
  if (!result.success) throw errors.invalidInput().with({ problems: problemsOf(where, result.error.issues) });
  return result.data;
};

/** Reads the JSON text of `filters`. Throws `errors.invalidInput` with bounded messages. */
export const parseFilters = (text: string): readonly Filter[] => bounded('filters', text, filters);

/** Reads the JSON text of `aggregation`. Throws `errors.invalidInput` with bounded messages, also when it asks for nothing. */
export const parseAggregation = (text: string): Aggregation => {
  const read = bounded('aggregation', text, aggregationShape);
  if (read.groupBy.length + read.functions.length === 0) throw refuse('aggregation', 'Needs a column to group by, or a function.');
  return read;
};

/** Splits at commas that are outside quotes. */
const splitColumns = (text: string): string[] => {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  for (const character of text) {
    if (quote) {
      if (character === quote) quote = '';
      part += character;
    } else if ((character === '"' || character === '`') && (part.trim() === '' || part.endsWith('.'))) {
      quote = character;
      part += character;
    } else if (character === ',') {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  parts.push(part.trim());
  return parts.filter((column) => column !== '');
};

const columnList = z.array(name).max(MAX_COLUMNS);

/** Reads `columns`: separated by commas, or a JSON array. A name with a comma or a dot of its own is quoted. */
const parseColumns = (given: string): readonly string[] => {
  if (/^\s*\[\s*("|\])/.test(given)) return bounded('columns', given, columnList);
  if (given.length > MAX_TEXT) throw refuse('columns', `Is longer than ${MAX_TEXT} characters.`);
  const columns = splitColumns(given);
  if (columns.length > MAX_COLUMNS) throw refuse('columns', `Names more than ${MAX_COLUMNS} columns.`);
  return columns;
};

const whole = (where: string, value: number | undefined, low: number, high: number) => {
  if (value !== undefined && (!Number.isInteger(value) || value < low || value > high))
    throw refuse(where, `Must be a whole number from ${low} to ${high}.`);
  return value;
};

/** Reads query parameters into a request. Throws `errors.invalidInput` (400) naming the parameter. The planner refuses what the table lacks. */
export const readRequest = (parameters: ReadParameters): ReadRequest => {
  const direction = parameters.orderDirection?.toUpperCase();
  if (direction !== undefined && direction !== 'ASC' && direction !== 'DESC') throw refuse('orderDirection', 'Must be ASC or DESC.');
  return {
    columns: parameters.columns === undefined ? undefined : parseColumns(parameters.columns),
    orderBy: parameters.orderBy === '' ? undefined : parameters.orderBy,
    orderDirection: direction,
    filters: parameters.filters === undefined || parameters.filters.trim() === '' ? undefined : parseFilters(parameters.filters),
    aggregation:
      parameters.aggregation === undefined || parameters.aggregation.trim() === '' ? undefined : parseAggregation(parameters.aggregation),
    page: whole('page', parameters.page, 1, Number.MAX_SAFE_INTEGER),
    pageSize: whole('pageSize', parameters.pageSize, 1, 100),
    limit: whole('limit', parameters.limit, 0, MAX_LIMIT),
  };
};
