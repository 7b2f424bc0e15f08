/** The meaning of a read in plain TypeScript: slow, obvious, and ignorant of the code under test. */
import { PEOPLE, documentOf } from './data.ts';
import type { Cell, CellKind, Row } from './data.ts';

export interface AskedFilter {
  column: string;
  operator: string;
  value?: unknown;
}
export interface AskedKey {
  column: string;
  timeBucket?: string;
  timezone?: string;
}
export interface AskedFunction {
  column: string;
  function: string;
  alias?: string;
  secondColumn?: string;
}
export interface Asked {
  columns?: string[];
  filters: AskedFilter[];
  orderBy?: string;
  orderDirection?: 'ASC' | 'DESC';
  aggregation?: { groupBy: AskedKey[]; functions: AskedFunction[] };
  page?: number;
  pageSize?: number;
  limit?: number;
}

export type Kind = CellKind | 'id' | 'whole' | 'sum0' | 'sum3' | 'real' | 'doc';
/** A value and how it is compared and printed; `slack` is the absolute error that a double may have. */
export interface Value {
  kind: Kind;
  cell: Cell;
  slack?: number;
}

const nulled = (kind: Kind): Value => ({ kind, cell: null });

/** Members of the document that a row has beside its cells, as they are asked for. */
const MEMBERS: Readonly<Record<string, (row: Row) => Value>> = {
  json: (row) => ({ kind: 'doc', cell: documentOf(row, true) }),
  'json.n': ({ cells: { int } }) => ({ kind: 'dbl', cell: int }),
  'json.n::double': ({ cells: { int } }) => ({ kind: 'dbl', cell: int }),
  'json.d::double': ({ cells: { dbl } }) => ({ kind: 'dbl', cell: Number.isFinite(dbl) ? dbl : null }),
  'json.big::bigint': ({ cells: { big } }) => ({ kind: 'big', cell: big }),
  'json.big': ({ cells: { big } }) => ({ kind: 'txt', cell: big === null ? null : String(big) }),
  'json."t.x"': ({ cells: { txt } }) => ({ kind: 'txt', cell: txt }),
  'json."t.x"::string': ({ cells: { txt } }) => ({ kind: 'txt', cell: txt }),
  'json.deep.b::boolean': ({ cells: { bool } }) => ({ kind: 'bool', cell: bool }),
  'json.deep.b': ({ cells: { bool } }) => ({ kind: 'txt', cell: bool === null ? null : String(bool) }),
  'json.day::date': ({ cells: { day } }) => ({ kind: 'day', cell: day }),
  'json.at::timestamp': ({ cells: { at } }) => ({ kind: 'at', cell: at }),
  'json.n::boolean': () => nulled('bool'),
  'json."t.x".n::double': () => nulled('dbl'),
  'json.deep.list.n': () => nulled('txt'),
};

export const valueOf = (row: Row, column: string, anonymised: boolean): Value => {
  if (column === 'id') return { kind: 'id', cell: row.id };
  if (column === 'uploaded_at') return { kind: 'at', cell: row.uploadedAt };
  if (column.startsWith('contributor.')) {
    const person = PEOPLE.find((one) => one.id === row.contributor);
    if (!person) return nulled('txt');
    const field = column.slice('contributor.'.length) as 'id' | 'name' | 'avatar';
    return { kind: 'txt', cell: anonymised ? (field === 'avatar' ? null : person.pseudonym) : person[field] };
  }
  const member = MEMBERS[column];
  if (member) return member(row);
  return { kind: column as CellKind, cell: row.cells[column as CellKind] };
};

const THOUSAND = 1000n;
const SCALE = 10n ** 21n;
/** A number's exact value in units of 10^-21. */
const exact = (text: string): bigint => {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = BigInt(whole + fraction) * SCALE;
  const shift = BigInt(Number(exponent) - fraction.length);
  const value = shift >= 0n ? digits * 10n ** shift : digits / 10n ** -shift;
  return sign ? -value : value;
};
const exactOf = ({ kind, cell }: Value): bigint =>
  kind === 'dec' || kind === 'sum3' ? (BigInt(cell as bigint | number) * SCALE) / THOUSAND : BigInt(cell as number | bigint) * SCALE;

const doubles = (a: number, b: number) => (Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : a < b ? -1 : a > b ? 1 : 0);

/** The order of two present values of one kind. */
const order = (a: Value, b: Value): number => {
  if (a.kind === 'txt' || a.kind === 'id') return Buffer.compare(Buffer.from(String(a.cell)), Buffer.from(String(b.cell)));
  if (a.kind === 'dbl' || a.kind === 'real') return doubles(Number(a.cell), Number(b.cell));
  const [x, y] = [BigInt(a.cell as bigint | number), BigInt(b.cell as bigint | number)];
  return x < y ? -1 : x > y ? 1 : 0;
};

const micros = (text: string): bigint => {
  const [, to = '', fraction = '', zone = 'Z'] = /^(.{10}(?:T.{5}(?::.{2})?)?)(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})?$/.exec(text) ?? [];
  const full = to.length === 10 ? `${to}T00:00:00` : to.length === 16 ? `${to}:00` : to;
  return BigInt(Date.parse(`${full}${zone}`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
};

/** How a cell compares with what was sent: negative, zero or positive. */
const against = (value: Value, sent: unknown): number => {
  switch (value.kind) {
    case 'int':
    case 'big':
    case 'dec': {
      const [x, y] = [exactOf(value), exact(String(sent))];
      return x < y ? -1 : x > y ? 1 : 0;
    }
    case 'dbl':
      return doubles(Number(value.cell), Number(sent));
    case 'day':
      return order(value, { kind: 'day', cell: BigInt(Date.parse(`${String(sent)}T00:00:00Z`) / 86_400_000) });
    case 'at':
    case 'clock':
      return order(value, { kind: 'at', cell: micros(String(sent)) });
    case 'bool':
      return Number(value.cell) - Number(sent);
    case 'txt':
    case 'id':
    case 'real':
    case 'sum0':
    case 'sum3':
    case 'whole':
    case 'doc':
      return order(value, { kind: 'txt', cell: String(sent) });
  }
};

const passes = (value: Value, { operator, value: sent }: AskedFilter): boolean => {
  if (operator === 'is_null') return value.cell === null;
  if (operator === 'is_not_null') return value.cell !== null;
  const list = Array.isArray(sent) ? (sent as unknown[]) : [sent];
  if (value.cell === null) return operator === 'not_equals' || operator === 'not_in';
  const to = (index = 0) => against(value, list[index]);
  switch (operator) {
    case 'equals':
      return to() === 0;
    case 'not_equals':
      return to() !== 0;
    case 'greater_than':
      return to() > 0;
    case 'less_than':
      return to() < 0;
    case 'greater_than_or_equal':
      return to() >= 0;
    case 'less_than_or_equal':
      return to() <= 0;
    case 'between':
      return to(0) >= 0 && to(1) <= 0;
    case 'in':
      return list.some((_, index) => to(index) === 0);
    case 'not_in':
      return list.every((_, index) => to(index) !== 0);
    case 'contains':
      return String(value.cell).includes(String(sent));
    case 'starts_with':
      return String(value.cell).startsWith(String(sent));
    default:
      throw new Error(operator);
  }
};

/** Nulls last in both directions. */
const byValue = (a: Value, b: Value, descending: boolean): number => {
  if (a.cell === null || b.cell === null) return a.cell === b.cell ? 0 : a.cell === null ? 1 : -1;
  return descending ? -order(a, b) : order(a, b);
};

const DAY = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();
/** Milliseconds that a zone's clocks are ahead of UTC at an instant. */
const offset = (zone: string, at: number): number => {
  const key = `${zone} ${at}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  formats.set(zone, format);
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const local = Date.UTC(part.year ?? 0, (part.month ?? 1) - 1, part.day, part.hour, part.minute, part.second);
  const made = local - Math.floor(at / 1000) * 1000;
  offsets.set(key, made);
  return made;
};

/** The first day of the unit that a day is in, in days since 1970. */
const firstDay = (unit: string, day: number): number => {
  const date = new Date(day * DAY);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (unit === 'day') return day;
  if (unit === 'week') return day - ((day + 3) % 7);
  if (unit === 'month') return Date.UTC(year, month, 1) / DAY;
  if (unit === 'quarter') return Date.UTC(year, month - (month % 3), 1) / DAY;
  return Date.UTC(year, 0, 1) / DAY;
};

const starts = new Map<string, bigint>();
/** The first instant at which a zone's calendar shows a day (or a later one): found by looking, a minute at a time near midnight. */
const startOfDay = (zone: string, day: number): bigint => {
  const key = `${zone} ${day}`;
  const known = starts.get(key);
  if (known !== undefined) return known;
  let at = day * DAY - 16 * 3_600_000;
  while ((at + offset(zone, at)) / DAY < day) at += 15 * 60_000;
  const found = BigInt(at) * 1000n;
  starts.set(key, found);
  return found;
};

export const bucket = (value: Value, unit: string, zone = 'UTC'): Value => {
  if (value.cell === null) return value;
  const short = unit === 'hour' || unit === 'minute';
  if (value.kind === 'day') return short ? value : { kind: 'day', cell: firstDay(unit, Number(value.cell)) };
  const at = value.cell as bigint;
  const ahead = value.kind === 'clock' || zone === 'UTC' ? 0n : BigInt(offset(zone, Number(at / 1000n))) * 1000n;
  const local = at + ahead;
  const size = unit === 'hour' ? 3_600_000_000n : 60_000_000n;
  if (short) return { kind: value.kind, cell: local - (local % size) - ahead };
  const day = firstDay(unit, Number(local / (BigInt(DAY) * 1000n)));
  return { kind: value.kind, cell: value.kind === 'clock' || zone === 'UTC' ? BigInt(day * DAY) * 1000n : startOfDay(zone, day) };
};

const numbers = (values: readonly Value[]) => values.map(({ kind, cell }) => (kind === 'dec' ? Number(cell) / 1000 : Number(cell)));
const plus = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
const size = (list: readonly number[]) => plus(list.map(Math.abs));
const wild = (list: readonly number[]) => list.some((one) => !Number.isFinite(one));
const real = (cell: number | null, slack = 0): Value => ({ kind: 'real', cell, slack });

const sum = (values: readonly Value[], kind: Kind): Value => {
  if (kind === 'dbl') return values.length === 0 ? nulled('real') : real(plus(numbers(values)), 1e-12 * size(numbers(values)));
  const result = kind === 'dec' || kind === 'sum3' ? 'sum3' : kind === 'big' || kind === 'sum0' ? 'sum0' : 'whole';
  return values.length === 0
    ? nulled(result)
    : { kind: result, cell: values.reduce((total, { cell }) => total + BigInt(cell as bigint | number), 0n) };
};

/** How far numbers lie above the least of them, exact before it is rounded. */
const distances = (values: readonly Value[]): number[] => {
  if (values.some(({ kind }) => kind === 'dbl' || kind === 'real')) {
    const list = numbers(values);
    const least = list.reduce((one, other) => Math.min(one, other), Infinity);
    return list.map((value) => value - least);
  }
  const whole = values.map(({ cell }) => BigInt(cell as bigint | number));
  const least = whole.reduce((one, other) => (other < one ? other : one), whole[0] ?? 0n);
  return numbers(values.map((value, index) => ({ ...value, cell: (whole[index] ?? 0n) - least })));
};

const spread = (list: readonly number[]): { value: number; slack: number } | null => {
  if (list.length < 2 || wild(list)) return null;
  const mean = plus(list) / list.length;
  return { value: plus(list.map((x) => (x - mean) ** 2)) / (list.length - 1), slack: 1e-12 * Math.max(...list.map((x) => x * x)) };
};

/** How much of Student's distribution lies between -t and t, by its finite series. */
const studentShare = (t: number, degrees: number): number => {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const odd = degrees % 2;
  let [term, total] = [odd ? Math.cos(angle) : 1, 0];
  for (let power = odd; power <= degrees - 2; power += 2) {
    total += term;
    term *= ((power + 1) / (power + 2)) * Math.cos(angle) ** 2;
  }
  return odd ? (2 / Math.PI) * (angle + Math.sin(angle) * total) : Math.sin(angle) * total;
};

/** Where 95 % of Student's distribution lie nearer to zero, by halving. */
const studentQuantile = (degrees: number): number => {
  let [low, high] = [1.9, 13];
  for (let turn = 0; turn < 50; turn += 1) {
    const middle = (low + high) / 2;
    if (studentShare(middle, degrees) < 0.95) low = middle;
    else high = middle;
  }
  return low;
};

const quantile = (values: readonly Value[], fraction: number): Value => {
  const list = numbers(values).sort(doubles);
  if (list.length === 0) return real(null);
  const at = fraction * (list.length - 1);
  const [low = 0, high = 0] = [list[Math.floor(at)], list[Math.ceil(at)]];
  const between = at - Math.floor(at);
  return real(between === 0 ? low : low + (high - low) * between, 1e-11 * Math.max(Math.abs(low), Math.abs(high)));
};

const aggregate = (rows: readonly Row[], { column, function: name, secondColumn }: AskedFunction, anonymised: boolean): Value => {
  if (column === '*') return { kind: 'whole', cell: BigInt(rows.length) };
  const kind = valueOf(rows[0] ?? NOBODY, column, anonymised).kind;
  const values = rows.map((row) => valueOf(row, column, anonymised)).filter(({ cell }) => cell !== null);
  const list = ['sum', 'avg', 'std', 'var', 'sem', 'ci95', 'median', 'p05', 'p95', 'cumsum', 'corr'].includes(name) ? numbers(values) : [];
  const sorted = () => [...values].sort((a, b) => byValue(a, b, false));
  switch (name) {
    case 'count':
      return { kind: 'whole', cell: BigInt(values.length) };
    case 'count_distinct':
      return {
        kind: 'whole',
        cell: BigInt(sorted().filter((value, index, all) => index === 0 || order(all[index - 1] ?? value, value) !== 0).length),
      };
    case 'min':
      return sorted()[0] ?? nulled(kind);
    case 'max':
      return sorted().at(-1) ?? nulled(kind);
    case 'first':
    case 'last': {
      const [found] = [...rows]
        .sort((a, b) => byDefault(a, b, name === 'last'))
        .filter((row) => valueOf(row, column, anonymised).cell !== null);
      return found ? valueOf(found, column, anonymised) : nulled(kind);
    }
    case 'sum':
    case 'cumsum':
      return sum(values, kind);
    case 'avg':
      return list.length === 0
        ? real(null)
        : real(
            kind === 'dbl' ? plus(list) / list.length : Number(sum(values, kind).cell) / (kind === 'dec' ? 1000 : 1) / list.length,
            (1e-12 * size(list)) / list.length,
          );
    case 'var':
    case 'std': {
      const found = spread(distances(values));
      if (!found) return real(null);
      return name === 'var'
        ? real(found.value, found.slack + 1e-6 * found.value)
        : real(Math.sqrt(found.value), Math.sqrt(found.slack) + 1e-6 * Math.sqrt(found.value));
    }
    case 'sem':
    case 'ci95': {
      const found = spread(distances(values));
      if (!found) return real(null);
      const scale = (name === 'ci95' ? studentQuantile(list.length - 1) : 1) / Math.sqrt(list.length);
      return real(scale * Math.sqrt(found.value), scale * (Math.sqrt(found.slack) + 2e-6 * Math.sqrt(found.value)));
    }
    case 'median':
      return quantile(values, 0.5);
    case 'p05':
      return quantile(values, 0.05);
    case 'p95':
      return quantile(values, 0.95);
    case 'corr': {
      const pairs = rows.flatMap((row) => {
        const pair = [valueOf(row, column, anonymised), valueOf(row, secondColumn ?? '', anonymised)];
        return pair.some(({ cell }) => cell === null) ? [] : [pair];
      });
      const [xs, ys] = [pairs.flatMap(([x]) => x ?? []), pairs.flatMap(([, y]) => y ?? [])].map(distances) as [number[], number[]];
      const [x, y] = [spread(xs), spread(ys)];
      if (!x || !y) return real(null);
      // where the spread drowns in rounding, any answer is as good
      if (x.value <= x.slack * 10 || y.value <= y.slack * 10)
        return x.value === 0 || y.value === 0 ? real(null, Infinity) : real(0, Infinity);
      const [mx, my] = [plus(xs) / xs.length, plus(ys) / ys.length];
      const together = plus(xs.map((value, index) => (value - mx) * ((ys[index] ?? 0) - my))) / (xs.length - 1);
      return real(together / Math.sqrt(x.value * y.value), 1e-6);
    }
    default:
      throw new Error(name);
  }
};

const NOBODY: Row = {
  id: '',
  uploadedAt: null,
  contributor: null,
  cells: { bool: null, int: null, big: null, dec: null, dbl: null, txt: null, day: null, at: null, clock: null },
};

const at = (row: Row): Value => ({ kind: 'at', cell: row.uploadedAt });
const byDefault = (a: Row, b: Row, descending: boolean) =>
  byValue(at(a), at(b), descending) || (descending ? -1 : 1) * Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));

export type Line = Record<string, Value>;
export interface Answer {
  lines: Line[];
  total: number;
  truncated: boolean;
}

const nameOf = ({ column, function: name, alias, secondColumn }: AskedFunction) =>
  alias ?? (column === '*' ? `count_${name}` : name === 'corr' ? `${column}_corr_${secondColumn ?? ''}` : `${column}_${name}`);

const runningOf = (values: readonly Value[]): Value[] => {
  const kind = values[0]?.kind ?? 'whole';
  return values.map((_, index) =>
    sum(
      values.slice(0, index + 1).filter(({ cell }) => cell !== null),
      kind === 'real' ? 'dbl' : kind,
    ),
  );
};

const grouped = (rows: readonly Row[], asked: Asked, anonymised: boolean): Line[] => {
  const { groupBy, functions } = asked.aggregation ?? { groupBy: [], functions: [] };
  const keyName = ({ column, timeBucket }: AskedKey) => (timeBucket ? `${column}_${timeBucket}` : column);
  const groups = new Map<string, { keys: Value[]; rows: Row[] }>();
  if (groupBy.length === 0) groups.set('[]', { keys: [], rows: [] });
  for (const row of rows) {
    const keys = groupBy.map(({ column, timeBucket, timezone }) => {
      const value = valueOf(row, column, anonymised);
      return timeBucket ? bucket(value, timeBucket, timezone) : value;
    });
    const text = JSON.stringify(
      keys.map(({ cell }) => (typeof cell === 'bigint' ? `${cell}n` : typeof cell === 'number' ? String(cell + 0) : cell)),
    );
    const group = groups.get(text) ?? { keys, rows: [] };
    group.rows.push(row);
    groups.set(text, group);
  }
  const made = [...groups.values()].map((group) => ({
    ...group,
    line: Object.fromEntries([
      ...groupBy.map((key, index) => [keyName(key), group.keys[index]]),
      ...functions.map((call) => [nameOf(call), aggregate(group.rows, call, anonymised)]),
    ]) as Line,
  }));
  for (const call of functions.filter((one) => one.function === 'cumsum')) {
    const parts = new Map<string, typeof made>();
    for (const one of made) {
      const others = JSON.stringify(
        one.keys.slice(1).map(({ cell }) => (cell === null ? null : String(typeof cell === 'number' ? cell + 0 : cell))),
      );
      parts.set(others, [...(parts.get(others) ?? []), one]);
    }
    for (const part of parts.values()) {
      part.sort((a, b) => byValue(a.keys[0] ?? nulled('txt'), b.keys[0] ?? nulled('txt'), false));
      runningOf(part.map(({ line }) => line[nameOf(call)] ?? nulled('whole'))).forEach((value, index) => {
        const one = part[index];
        if (one) one.line[nameOf(call)] = value;
      });
    }
  }
  const lines = made.map(({ line }) => line);
  const keys = groupBy.map(keyName);
  const terms: [string, boolean][] =
    asked.orderBy === undefined
      ? keys.map((key, index) => [key, index === 0 && asked.orderDirection === 'DESC'])
      : [
          [asked.orderBy, asked.orderDirection === 'DESC'],
          ...keys.filter((key) => key !== asked.orderBy).map((key): [string, boolean] => [key, false]),
        ];
  return lines.sort((a, b) =>
    terms.reduce((found, [name, descending]) => found || byValue(a[name] ?? nulled('txt'), b[name] ?? nulled('txt'), descending), 0),
  );
};

const plain = (rows: Row[], asked: Asked, anonymised: boolean): Line[] => {
  const descending = asked.orderDirection === 'DESC';
  const by = asked.orderBy ?? 'uploaded_at';
  const tie = (a: Row, b: Row) => byDefault(a, b, false);
  rows.sort((a, b) => byValue(valueOf(a, by, anonymised), valueOf(b, by, anonymised), descending) || tie(a, b));
  const lines = rows.map((row): Line =>
    Object.fromEntries((asked.columns ?? []).map((column) => [column, valueOf(row, column, anonymised)])),
  );
  for (const call of asked.aggregation?.functions ?? []) {
    const values =
      call.column === '*' ? rows.map((): Value => ({ kind: 'whole', cell: 1n })) : rows.map((row) => valueOf(row, call.column, anonymised));
    runningOf(values).forEach((value, index) => Object.assign(lines[index] ?? {}, { [nameOf(call)]: value }));
  }
  return lines;
};

/** What a read answers, value by value. */
export const evaluate = (rows: readonly Row[], asked: Asked, anonymised: boolean): Answer => {
  const matching = rows.filter((row) => asked.filters.every((filter) => passes(valueOf(row, filter.column, anonymised), filter)));
  const { groupBy = [], functions = [] } = asked.aggregation ?? {};
  const keepsRows = asked.aggregation === undefined || (groupBy.length === 0 && functions.every((call) => call.function === 'cumsum'));
  const lines = keepsRows ? plain([...matching], asked, anonymised) : grouped(matching, asked, anonymised);
  const total = lines.length;
  if (asked.page !== undefined || asked.pageSize !== undefined) {
    const [page, pageSize] = [asked.page ?? 1, asked.pageSize ?? 100];
    return { lines: lines.slice((page - 1) * pageSize, page * pageSize), total, truncated: false };
  }
  if (asked.limit !== undefined) return { lines: lines.slice(0, asked.limit), total, truncated: total > asked.limit };
  return { lines: asked.aggregation ? lines : lines.slice(0, 100), total, truncated: false };
};

/** Distinct values, ascending, without nulls and empty text. */
export const evaluateDistinct = (
  rows: readonly Row[],
  column: string,
  limit: number,
  anonymised: boolean,
): { values: Value[]; truncated: boolean } => {
  const values = rows.map((row) => valueOf(row, column, anonymised)).filter(({ cell }) => cell !== null && cell !== '');
  const sorted = values.sort((a, b) => byValue(a, b, false));
  const distinct = sorted.filter((value, index) => index === 0 || order(sorted[index - 1] ?? value, value) !== 0);
  return { values: distinct.slice(0, limit), truncated: distinct.length > limit };
};
