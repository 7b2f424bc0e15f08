/** Requests that a client could send, drawn from the rows so that they match something. Knows nothing of the code under test. */
import { KINDS, ZONES } from './data.ts';
import type { Cell, CellKind, Random, Row } from './data.ts';
import type { Asked, AskedFilter, AskedFunction, AskedKey } from './evaluate.ts';

const NUMERIC: readonly CellKind[] = ['int', 'big', 'dec', 'dbl'];
const ORDERED = ['greater_than', 'less_than', 'greater_than_or_equal', 'less_than_or_equal', 'between'];
const ANY = ['equals', 'not_equals', 'in', 'not_in', 'is_null', 'is_not_null'];

/** Every operator × column type that exists. */
export const OPERATOR_CELLS: readonly (readonly [string, CellKind])[] = KINDS.flatMap((kind) => [
  ...ANY.map((operator) => [operator, kind] as const),
  ...(kind === 'bool' ? [] : ORDERED.map((operator) => [operator, kind] as const)),
  ...(kind === 'txt' ? (['contains', 'starts_with'] as const).map((operator) => [operator, kind] as const) : []),
]);

/** Every aggregate × column type that exists. */
export const FUNCTION_CELLS: readonly (readonly [string, CellKind])[] = KINDS.flatMap((kind) => [
  ...['count', 'count_distinct', 'min', 'max', 'first', 'last'].map((name) => [name, kind] as const),
  ...(NUMERIC.includes(kind)
    ? ['sum', 'avg', 'std', 'var', 'sem', 'ci95', 'median', 'p05', 'p95', 'cumsum', 'corr'].map((name) => [name, kind] as const)
    : []),
]);

const two = (value: number) => String(value).padStart(2, '0');
/** Microseconds → ISO 8601, now and then at another offset. */
const written = (micros: bigint, r: Random | null): string => {
  const shift = r?.pick([0, 60, -330, 840]) ?? 0;
  const ms = Number(micros / 1000n) + shift * 60_000;
  const fraction = `${new Date(ms).toISOString().slice(0, 23)}${String(micros % 1000n).padStart(3, '0')}`;
  if (!r) return fraction;
  return shift === 0
    ? `${fraction}Z`
    : `${fraction}${shift < 0 ? '-' : '+'}${two(Math.floor(Math.abs(shift) / 60))}:${two(Math.abs(shift) % 60)}`;
};

const fixed = (thousandths: bigint) =>
  `${thousandths < 0n ? '-' : ''}${String((thousandths < 0n ? -thousandths : thousandths) / 1000n)}.${String((thousandths < 0n ? -thousandths : thousandths) % 1000n).padStart(3, '0')}`;

/** What a client would send for a cell, near it as often as not. */
const operand = (kind: CellKind, cell: Cell, r: Random): unknown => {
  switch (kind) {
    case 'int':
      return r.chance(0.15) ? Number(cell) + 0.5 : r.chance(0.2) ? String(cell) : Number(cell);
    case 'big':
      return String(BigInt(cell as bigint | number) + BigInt(r.int(3) - 1));
    case 'dec':
      return r.chance(0.2) ? `${fixed(cell as bigint)}5` : fixed(cell as bigint);
    case 'dbl':
      return Number.isFinite(cell) ? Number(cell) : 0;
    case 'day':
      return new Date(Number(cell) * 86_400_000).toISOString().slice(0, 10);
    case 'at':
      return r.chance(0.1) ? written(cell as bigint, null).slice(0, 10) : written(cell as bigint, r);
    case 'clock':
      return written(cell as bigint, null);
    case 'bool':
    case 'txt':
      return cell;
  }
};

const drawn = (kind: CellKind, rows: readonly Row[], r: Random, isEmptyToo = true): unknown => {
  for (;;) {
    const cell = r.pick(rows).cells[kind];
    if (cell !== null && (isEmptyToo || cell !== '')) return operand(kind, cell, r);
  }
};

/** Where a document has what a cell holds. */
const MEMBERS: Partial<Record<CellKind, string>> = {
  int: 'json.n::double',
  big: 'json.big::bigint',
  txt: 'json."t.x"::string',
  bool: 'json.deep.b::boolean',
  day: 'json.day::date',
  at: 'json.at::timestamp',
};

const makeFilter = ([operator, kind]: readonly [string, CellKind], rows: readonly Row[], r: Random): AskedFilter => {
  const draw = () => drawn(kind, rows, r);
  const column = r.chance(0.3) ? (MEMBERS[kind] ?? kind) : kind;
  if (operator === 'is_null' || operator === 'is_not_null') return { column, operator };
  if (operator === 'between') return { column, operator, value: [draw(), draw()] };
  if (operator === 'in' || operator === 'not_in') return { column, operator, value: Array.from({ length: 1 + r.int(6) }, draw) };
  if (operator === 'contains' || operator === 'starts_with') {
    const text = Array.from(String(drawn(kind, rows, r, false)));
    const from = operator === 'contains' ? r.int(text.length) : 0;
    return {
      column,
      operator,
      value: r.chance(0.2) ? r.pick(['%', '_', '5_%', '\\']) : text.slice(from, from + 1 + r.int(text.length - from)).join(''),
    };
  }
  return { column, operator, value: draw() };
};

const NUMERIC_ONLY = ['sum', 'avg', 'std', 'var', 'median', 'p05', 'p95'];
const makeFunction = ([name, column]: readonly [string, CellKind], index: number, r: Random): AskedFunction =>
  name === 'corr'
    ? { column, function: name, secondColumn: r.pick(NUMERIC), alias: `f${index}` }
    : NUMERIC_ONLY.includes(name) && column === 'int' && r.chance(0.4)
      ? { column: 'json.n', function: name, alias: `f${index}` }
      : { column, function: name, ...(r.chance(0.5) ? { alias: `f${index}` } : {}) };

const UNITS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
const TIMES = ['at', 'day', 'clock', 'json.at::timestamp', 'json.day::date'];
const MEMBER_KEYS = ['json."t.x"::string', 'json.n::double', 'json.big', 'json.at::timestamp', 'json.day::date'];
const makeKey = (r: Random): AskedKey => {
  const column = r.pick([...KINDS, 'at', 'at', 'at', 'contributor.name', 'contributor.id', ...MEMBER_KEYS]);
  if (!TIMES.includes(column)) return { column };
  if (r.chance(0.15)) return { column };
  return { column, timeBucket: r.pick(UNITS), ...(r.chance(0.7) ? { timezone: r.pick(ZONES) } : {}) };
};

const shown = (key: AskedKey) => (key.timeBucket ? `${key.column}_${key.timeBucket}` : key.column);
/** Ordering by a rounded double could differ in the last bit; everything else is exact. */
const EXACT = ['count', 'count_distinct', 'min', 'max', 'first', 'last'];

const COLUMNS = [
  'id',
  'uploaded_at',
  'contributor.name',
  'contributor.id',
  'contributor.avatar',
  'json."t.x"',
  'json."t.x"::string',
  'json.deep.b',
  'json.deep.b::boolean',
  'json.big',
  'json.big::bigint',
  'json.d::double',
  'json.day::date',
  'json.at::timestamp',
  'json.deep.list.n',
  'json.n::boolean',
  'json."t.x".n::double',
  ...KINDS,
];
const window = (r: Random) =>
  r.chance(0.4) ? { page: 1 + r.int(4), pageSize: 1 + r.int(60) } : r.chance(0.7) ? { limit: r.int(300) } : {};

/** The n-th request of a seed: over any run of requests every operator and every aggregate comes round for every type. */
export const makeRequest = (index: number, rows: readonly Row[], r: Random): Asked => {
  const filters = Array.from({ length: 2 + (r.chance(0.2) ? 1 : 0) }, (_, at) =>
    makeFilter(OPERATOR_CELLS[(index * 2 + at) % OPERATOR_CELLS.length] ?? ['equals', 'int'], rows, r),
  );
  const kept = r.chance(0.5)
    ? filters.map((filter, at) =>
        at > 0 && ['equals', 'in'].includes(filter.operator)
          ? { ...filter, operator: filter.operator === 'in' ? 'not_in' : 'not_equals' }
          : filter,
      )
    : filters;
  const orderDirection = r.chance(0.7) ? r.pick(['ASC', 'DESC'] as const) : undefined;
  if (index % 2 === 0) {
    const columns = [...new Set(Array.from({ length: 1 + r.int(COLUMNS.length) }, () => r.pick([...COLUMNS, 'json'])))];
    const aggregation = r.chance(0.1)
      ? {
          groupBy: [],
          functions: [
            r.chance(0.3) ? { column: '*', function: 'cumsum' } : { column: r.pick(['int', 'big', 'dec', 'dbl']), function: 'cumsum' },
          ],
        }
      : undefined;
    return { columns, filters: kept, orderBy: r.chance(0.7) ? r.pick(COLUMNS) : undefined, orderDirection, aggregation, ...window(r) };
  }
  const at = ((index - 1) / 2) * 3;
  let functions = Array.from({ length: 3 }, (_, offset) =>
    makeFunction(FUNCTION_CELLS[(at + offset) % FUNCTION_CELLS.length] ?? ['count', 'int'], offset, r),
  );
  if (r.chance(0.2)) functions.push({ column: '*', function: 'count' });
  const keys = r.chance(0.75) ? Array.from({ length: 1 + r.int(2) }, () => makeKey(r)) : [];
  const groupBy = keys.filter((key, place) => keys.findIndex((other) => shown(other) === shown(key)) === place);
  if (groupBy.length === 0 && !functions.every((call) => call.function === 'cumsum'))
    functions = functions.filter((call) => call.function !== 'cumsum');
  const outputs = [
    ...groupBy.map(shown),
    ...functions
      .filter((call) => EXACT.includes(call.function))
      .map((call) => call.alias ?? (call.column === '*' ? 'count_count' : `${call.column}_${call.function}`)),
  ];
  const columns = groupBy.length === 0 && functions.every((call) => call.function === 'cumsum') ? ['id'] : undefined;
  return {
    columns,
    filters: r.chance(0.5) ? kept.slice(0, 1) : kept,
    aggregation: { groupBy, functions },
    orderBy: r.chance(0.4) && outputs.length > 0 && !columns ? r.pick(outputs) : undefined,
    orderDirection,
    ...window(r),
  };
};
