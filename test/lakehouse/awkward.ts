/** Every awkward value of every type, one a row: what DuckDB is told to store, and the one text that every format must give back. */
import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  INT,
  STRING,
  TIMESTAMP,
  TIMESTAMP_NTZ,
  VARIANT,
  makeDecimal,
} from '../../src/lakehouse/terms/catalog.ts';
import type { Column, ColumnType } from '../../src/lakehouse/terms/catalog.ts';
import { EXPERIMENT, uploaded } from './support.ts';

/** Canonical text of a value: numbers in full, times as microseconds since the epoch, days as days, JSON as `JSON.stringify` has it; null is null. */
export type Canonical = string | null;

interface Kind {
  name: string;
  type: ColumnType;
  values: readonly { sql: string; is: Canonical }[];
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const microseconds = (text: string): string => {
  const [, seconds = '', places = ''] = /^(.*?)(?:\.(\d+))?$/.exec(text) ?? [];
  return String(BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(places.padEnd(6, '0')));
};

const CLOCKS = [
  '1970-01-01T00:00:00',
  '1969-12-31T23:59:59.999999',
  '2024-03-31T01:00:00.000001',
  '2024-03-31T00:59:59.999',
  '2024-10-27T00:30:00.123456',
  '0001-01-01T00:00:00',
  '9999-12-31T23:59:59.999999',
];
const DAYS = ['1970-01-01', '1969-12-31', '2024-02-29', '0001-01-01', '9999-12-31'];
const DOUBLES = ['0', '-1.5', '0.1', '1e21', '1e-7', '123456789.123456789', '9007199254740993', '5e-324', '1.7976931348623157e308'];
export const TEXTS = [
  '',
  ' ',
  ' both ',
  'a,b',
  'say "so"',
  "it's",
  'two\nlines',
  'cr\rlf\r\n',
  'tab\there',
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\\',
  '\\n',
  'null',
  'NaN',
  '12 letters..',
  '13 letters...',
  'é, ß and 日本語',
  '🌱 leaf',
  'שלום',
  'é',
  '{"a":1}',
  'x'.repeat(10_000),
];
const JSONS = ['{}', '[]', '{"a": [1, null, {"b": "c, d"}], "e": 1.5}', '"text"', '12', 'true', '{"": "\\u00e9\\n"}'];

export const KINDS: readonly Kind[] = [
  { name: 'bool', type: BOOLEAN, values: ['true', 'false'].map((sql) => ({ sql, is: sql })) },
  { name: 'int', type: INT, values: ['0', '-1', '2147483647', '-2147483648'].map((sql) => ({ sql, is: sql })) },
  {
    name: 'big',
    type: BIGINT,
    values: [
      '0',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '-9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
    ].map((is) => ({ sql: quoted(is), is })),
  },
  {
    name: 'dec',
    type: makeDecimal(38, 10),
    values: [
      '0.0000000000',
      '0.0000000001',
      '-0.5000000000',
      '9999999999999999999999999999.9999999999',
      '-1234567890123456789012345678.0123456789',
    ].map((is) => ({ sql: quoted(is), is })),
  },
  { name: 'small', type: makeDecimal(4, 2), values: ['0.01', '-99.99'].map((is) => ({ sql: quoted(is), is })) },
  { name: 'middle', type: makeDecimal(9, 3), values: ['-999999.999', '0.001'].map((is) => ({ sql: quoted(is), is })) },
  { name: 'wide', type: makeDecimal(18, 6), values: ['-999999999999.999999', '1.000000'].map((is) => ({ sql: quoted(is), is })) },
  {
    name: 'dbl',
    type: DOUBLE,
    values: [
      ...DOUBLES.map((text) => ({ sql: quoted(text), is: String(Number(text)) })),
      ...['nan', 'inf', '-inf'].map((text, at) => ({ sql: quoted(text), is: ['NaN', 'Infinity', '-Infinity'][at] ?? null })),
    ],
  },
  { name: 'txt', type: STRING, values: TEXTS.map((is) => ({ sql: quoted(is), is })) },
  { name: 'day', type: DATE, values: DAYS.map((text) => ({ sql: quoted(text), is: String(Date.parse(text) / 86_400_000) })) },
  { name: 'at', type: TIMESTAMP, values: CLOCKS.map((text) => ({ sql: quoted(`${text}+00`), is: microseconds(text) })) },
  { name: 'clock', type: TIMESTAMP_NTZ, values: CLOCKS.map((text) => ({ sql: quoted(text), is: microseconds(text) })) },
  { name: 'json', type: VARIANT, values: JSONS.map((text) => ({ sql: quoted(text), is: JSON.stringify(JSON.parse(text)) })) },
];

export const AWKWARD_COLUMNS: readonly Column[] = [uploaded('n', INT), ...KINDS.map(({ name, type }) => uploaded(name, type))];
export const ROWS = Math.max(...KINDS.map(({ values }) => values.length)) + 1;

const DUCK: Readonly<Record<string, string>> = {
  variant: 'varchar',
  timestamp: 'timestamptz',
  timestamp_ntz: 'timestamp',
  string: 'varchar',
  int: 'integer',
};
const duck = (type: ColumnType) => (type.kind === 'decimal' ? `decimal(${type.precision}, ${type.scale})` : (DUCK[type.kind] ?? type.kind));

/** The rows in DuckDB's words: a row of nulls after the longest list, and nulls after the shorter ones. */
export const awkwardSelect = (): string => {
  const rows = Array.from({ length: ROWS }, (_, at) => {
    const cells = KINDS.map(({ name, type, values }) => `cast(${values[at]?.sql ?? 'null'} as ${duck(type)}) as "${name}"`);
    const fixed = `'r${String(at).padStart(3, '0')}' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at`;
    return `select ${fixed}, 'u${at % 3}' as contributor_id, ${at}::integer as n, ${cells.join(', ')}`;
  });
  return rows.join(' union all ');
};

const isWild = (is: Canonical) => is === 'NaN' || is === 'Infinity' || is === '-Infinity';

/** What every cell must be, by column and row; text formats have no number that is none. */
export const expected = (isText: boolean): Record<string, Canonical[]> =>
  Object.fromEntries(
    KINDS.map(({ name, values }) => [
      name,
      Array.from({ length: ROWS }, (_, at) => {
        const is = values[at]?.is ?? null;
        return isText && name === 'dbl' && isWild(is) ? null : is;
      }),
    ]),
  );
