/** Rows and requests that engines disagree about: edges of every type, 38 digits, hostile text, nested JSON. Knows nothing of the code under test. */
import { readFileSync } from 'node:fs';
import { KINDS, documentOf, makeRows, random, selectRows } from '../../lakehouse/oracle/data.ts';
import type { Cell, CellKind, Random, Row } from '../../lakehouse/oracle/data.ts';
import type { Asked, AskedFilter } from '../../lakehouse/oracle/evaluate.ts';
import { makeRequest } from '../../lakehouse/oracle/generate.ts';

export const HOSTILE = (
  JSON.parse(readFileSync(new URL('../../../fixtures/hostile-strings.json', import.meta.url), 'utf8')) as string[]
).filter((text) => text !== '' && !text.includes('\0'));

/** The oracle's columns, and four more: two decimals of 38 digits as text, a JSON document, hostile text. */
export interface HarshRow extends Row {
  wide: string | null;
  fine: string | null;
  json: string | null;
  note: string | null;
}

const EDGES: Partial<Record<CellKind, readonly Cell[]>> = {
  big: [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n - 1n, -(2n ** 53n) - 1n],
  // of one sign, so that no sum cancels into rounding
  dbl: [2 ** 53, 1e300, 1e-300, 5e-324, 0.1, NaN, Infinity, -Infinity],
  at: [-1n, -62_135_596_800_000_000n, 253_402_300_799_999_999n].slice(0, 1),
  clock: [-1n, -62_135_596_800_000_000n, 253_402_300_799_999_999n],
  day: [-719_162, -1, 2_932_896],
};

/** In the second half of an hour, or half an hour, that comes twice in one of the zones: of 300 rows at random often none is. */
const TWICE = ['2024-10-27T01:30Z', '2024-11-03T06:30Z', '2024-11-03T05:30Z', '2024-04-06T15:15Z'].map(
  (text) => BigInt(Date.parse(text)) * 1000n,
);

const digits = (r: Random, count: number) =>
  Array.from({ length: count }, () => '0123456789'[r.int(10)])
    .join('')
    .replace(/^0+(?=\d)/, '');
const signed = (r: Random, text: string) => (r.chance(0.5) && !/^[0.]*$/.test(text) ? `-${text}` : text);

const JSON_TEXTS = [
  '{}',
  '[]',
  '""',
  '0',
  '-1.5',
  'true',
  '"text"',
  '[1,[2,[3,[4]]],{"a":{"b":{"c":null}}}]',
  '{"b":1,"a":2,"nested":{"list":[1,2.5,"x",null,true],"empty":{}}}',
  '{"quotes\\"\\\\/":"\\u0001\\n\\t","emoji":"😀","accent":"é"}',
  '[9007199254740991,-9007199254740991,1e20,0.1,123456.789]',
  '{"n":1e400,"t.x":null}',
  ...['1.50', '12345678.9', '-1e20', '0.0001', '1.25e-7', '1e140', '-0.0', '"1.5E7"', '"0012"', '" 5"', '9223372036854775808'].map(
    (text) => `{"n":${text},"big":${text},"deep":{"b":${text}},"t.x":{"n":1.5}}`,
  ),
];

export const makeHarshRows = (seed: number, count: number): HarshRow[] => {
  const r = random(seed ^ 0x5bd1e995);
  return makeRows(seed, count).map((row, index) => {
    const cells = { ...row.cells };
    for (const kind of KINDS) if (cells[kind] !== null && EDGES[kind] && r.chance(0.08)) cells[kind] = r.pick(EDGES[kind]);
    const twice = TWICE[index];
    if (twice !== undefined) cells.at = twice;
    const wide = signed(r, digits(r, 1 + r.int(35)));
    const fine = signed(r, `${digits(r, 1 + r.int(25))}.${digits(r, 10).padStart(10, '0')}`);
    return {
      ...row,
      cells,
      // one of each sign, so that no sum needs a 39th digit
      wide:
        index === 0
          ? '90000000000000000000000000000000000001'
          : index === 1
            ? '-90000000000000000000000000000000000003'
            : r.chance(0.12)
              ? null
              : wide,
      fine: r.chance(0.12) ? null : fine,
      json: r.chance(0.12) ? null : r.chance(0.3) ? r.pick(JSON_TEXTS) : documentOf({ ...row, cells }),
      note: r.chance(0.12) ? null : r.pick(HOSTILE),
    };
  });
};

const quoted = (text: string | null) => (text === null ? 'null' : `'${text.replaceAll("'", "''")}'`);

/** A SELECT of these rows for DuckDB. */
export const selectHarshRows = (rows: readonly HarshRow[], experiment: string): string => {
  const more = rows.map(({ id, wide, fine, json, note }) => `(${[id, wide, fine, json, note].map(quoted).join(', ')})`);
  return `select b.* exclude (json), cast(m.wide as decimal(38, 0)) as wide, cast(m.fine as decimal(38, 10)) as fine, cast(m.json as varchar) as json, cast(m.note as varchar) as note
    from (${selectRows(rows, experiment)}) b join (values ${more.join(', ')}) as m(id, wide, fine, json, note) on m.id = b.id`;
};

const NUMBERS = [
  'equals',
  'not_equals',
  'greater_than',
  'less_than',
  'greater_than_or_equal',
  'less_than_or_equal',
  'between',
  'in',
  'not_in',
];
const TEXTS = ['equals', 'not_equals', 'greater_than', 'less_than_or_equal', 'in', 'not_in', 'contains', 'starts_with'];

const several = (operator: string, draw: () => string, r: Random): unknown =>
  operator === 'between' ? [draw(), draw()] : operator.endsWith('in') ? Array.from({ length: 1 + r.int(4) }, draw) : draw();

const makeFilter = (rows: readonly HarshRow[], r: Random): AskedFilter => {
  const column = r.pick(['wide', 'fine', 'note', 'json'] as const);
  if (column === 'json' || r.chance(0.1)) return { column, operator: r.pick(['is_null', 'is_not_null']) };
  if (column === 'note') {
    const operator = r.pick(TEXTS);
    return { column, operator, value: several(operator === 'contains' ? 'equals' : operator, () => r.pick(HOSTILE), r) };
  }
  const operator = r.pick(NUMBERS);
  const draw = (): string => `${r.pick(rows)[column] ?? '0'}${column === 'wide' && r.chance(0.2) ? '.5' : ''}`.slice(0, 39);
  return { column, operator, value: several(operator, draw, r) };
};

const INSTEAD: Readonly<Record<string, readonly string[]>> = { dec: ['wide', 'fine'], txt: ['note'] };
const instead = (column: string, r: Random): string => (INSTEAD[column] && r.chance(0.4) ? r.pick(INSTEAD[column]) : column);

/** Neighbours of 2^53 are as far apart as doubles are exact there: their spread is rounding alone, which no two engines share. */
const SPREADS = ['var', 'std', 'sem', 'ci95', 'corr'];

/** Functions whose answers are rounded: ordered by one, rows whose values are as good as equal may come in either order. */
const MEASURES = ['avg', 'std', 'var', 'sem', 'ci95', 'median', 'p05', 'p95', 'corr'];

/** The n-th request of the oracle's generator, over the four columns more as well. */
export const makeHarshRequest = (index: number, rows: readonly HarshRow[], r: Random): Asked => {
  const asked = makeRequest(index, rows, r);
  const filters = r.chance(0.25) ? [...asked.filters.slice(0, 1), makeFilter(rows, r)] : asked.filters;
  const columns =
    asked.columns && r.chance(0.5) ? [...asked.columns, ...['wide', 'fine', 'json', 'note'].filter(() => r.chance(0.5))] : asked.columns;
  const swapped = (column: string, called: string) => (column === 'big' && SPREADS.includes(called) ? 'int' : instead(column, r));
  const functions = asked.aggregation?.functions.map((call) =>
    call.alias
      ? {
          ...call,
          column: swapped(call.column, call.function),
          ...(call.secondColumn && { secondColumn: swapped(call.secondColumn, call.function) }),
        }
      : SPREADS.includes(call.function) && call.column === 'big'
        ? { ...call, function: 'avg' }
        : call,
  );
  const groupBy = asked.aggregation?.groupBy.map((key) =>
    asked.orderBy === key.column ? key : { ...key, column: instead(key.column, r) },
  );
  const measured = functions?.find((call) => call.alias && MEASURES.includes(call.function))?.alias;
  const orderBy = measured && groupBy && groupBy.length > 0 && r.chance(0.3) ? measured : asked.orderBy;
  return { ...asked, orderBy, filters, columns, aggregation: functions && groupBy && { groupBy, functions } };
};
