import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIGINT, BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, TIMESTAMP_NTZ, makeDecimal } from '../../src/lakehouse/terms/catalog.ts';
import { pickFilesBeside } from '../../src/lakehouse/terms/extents.ts';
import type { FileExtent } from '../../src/lakehouse/terms/extents.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { readStream } from '../../src/lakehouse/read/read.ts';
import { leaf, thereAndBack } from './paging.ts';
import type { Row } from './paging.ts';
import { EXPERIMENT, Lake, source, uploaded } from './support.ts';

const soak = process.env.SOAK !== undefined;
const ROWS = soak ? 50_000 : 600;
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
console.log(`paging: FC_SEED=${seed}`);

const COLUMNS = [
  uploaded('n', BIGINT),
  uploaded('tied', BIGINT),
  uploaded('txt', STRING),
  uploaded('dbl', DOUBLE),
  uploaded('dec', makeDecimal(38, 4)),
  uploaded('at', TIMESTAMP),
  uploaded('clock', TIMESTAMP_NTZ),
  uploaded('day', DATE),
  uploaded('bool', BOOLEAN),
];
const FILES = 5;

const select = (file: number) => `
  select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id,
    case when i % 11 = 0 then null else timestamptz '2024-01-01 00:00:00+00' + interval (i // 400) hour + interval (i % 3) microsecond end as uploaded_at,
    'u' || i % 3 as contributor_id, i::bigint as n, case when i % 3 = 0 then null else i % 4 end as tied,
    case i % 7 when 0 then null when 1 then '' when 2 then 'é' when 3 then 'it''s "so"' when 4 then 'Z' else 'z' end as txt,
    case i % 6 when 0 then null when 1 then 'nan'::double when 2 then 'inf'::double when 3 then '-inf'::double when 4 then 0.1 else i end as dbl,
    case when i % 5 > 0 then (i % 13 / 7)::decimal(38, 4) end as dec, timestamptz '1969-12-31 23:59:59.123456+00' + interval (i % 9) day as at,
    timestamp '2024-03-31 02:30:00.5' + interval (i % 9) hour as clock, date '2024-02-28' + (i % 4)::integer as day, i % 2 = 0 as bool
  from range(${ROWS}) t(i) where i % ${FILES} = ${file} order by uploaded_at nulls last, id`;

let lake: Lake;
let rows: TableSource;
beforeAll(async () => {
  lake = await Lake.open();
  const files: string[] = [];
  const extents: FileExtent[] = [];
  for (let file = 0; file < FILES; file += 1) {
    const path = await lake.write(select(file));
    const [facts] = await lake.warehouse.rows({
      sql: `select count(*)::integer as n, strftime(min(make_timestamp(epoch_us(uploaded_at))), '%Y-%m-%dT%H:%M:%S.%fZ') as low,
        strftime(max(make_timestamp(epoch_us(uploaded_at))), '%Y-%m-%dT%H:%M:%S.%fZ') as high, min(id) as first, max(id) as last,
        count(*) filter (where uploaded_at is null)::integer as nulls from read_parquet('${path}')`,
      values: [],
    });
    files.push(path);
    extents.push({
      path,
      rowCount: Number(facts?.n),
      minKey: facts?.low as string,
      maxKey: facts?.high as string,
      minId: facts?.first as string,
      maxId: facts?.last as string,
      nullKeys: Number(facts?.nulls),
    });
  }
  rows = source(files, { expanded: COLUMNS, extents, rowCount: ROWS });
});
afterAll(() => lake.close());

const whole = async (request: object): Promise<Row[]> => {
  const { body } = await readStream(lake.warehouse, rows, request, { format: 'json' });
  return JSON.parse(await text(body)) as Row[];
};

const ORDERS = [undefined, 'tied', 'txt', 'dbl', 'dec', 'at', 'clock', 'day', 'bool', 'contributor.name', 'n'];

describe('pages by cursor', () => {
  const orders = ORDERS.flatMap((orderBy) => (['ASC', 'DESC'] as const).map((orderDirection) => ({ orderBy, orderDirection })));
  test.each(orders)(
    '$orderBy $orderDirection: each row once, there and back',
    async (order) => {
      // in a long run the whole table in pages of the greatest size, by some orders; else a few odd pages of every one
      if (soak && !['tied', undefined].includes(order.orderBy)) return;
      const request = { columns: ['n'], ...order };
      const all = await whole(request);
      const pageSize = soak ? 100 : 97;
      const { there, back } = await thereAndBack(lake.warehouse, rows, { ...request, pageSize });
      expect(there.flatMap((each) => each.rows)).toEqual(all);
      expect(back.map((each) => each.rows)).toEqual(there.slice(0, -1).map((each) => each.rows));
      const pages = Math.ceil(ROWS / pageSize);
      expect(there.map(({ page, totals }) => [page, ...totals])).toEqual(there.map((_each, at) => [at + 1, ROWS, pages]));
      expect(back.map(({ page }) => page)).toEqual(back.map((_each, at) => at + 1));
      expect([there[0]?.previous, back[0]?.previous]).toEqual([null, null]);
    },
    600_000,
  );

  test('with a filter, from a numbered page on, and in pages of changing size', async () => {
    const request = {
      columns: ['n', 'tied'],
      orderBy: 'tied',
      filters: [{ column: 'txt', operator: 'in' as const, value: ['z', 'Z'] }],
    };
    const all = await whole(request);
    const third = await leaf(lake.warehouse, rows, { ...request, page: 3, pageSize: 40 });
    expect(third.rows).toEqual(all.slice(80, 120));
    const next = await leaf(lake.warehouse, rows, { ...request, seek: third.next!, pageSize: 15 });
    expect([next.rows, next.totals[0]]).toEqual([all.slice(120, 135), all.length]);
    const before = await leaf(lake.warehouse, rows, { ...request, seek: third.previous!, pageSize: 100 });
    expect([before.rows, before.previous]).toEqual([all.slice(0, 80), null]);
  });

  test('a page in the table’s own order opens few files', () => {
    const files = (key: string | null, back: boolean) =>
      pickFilesBeside(
        [1, 2, 3, 4].map((day): FileExtent => ({
          path: `${day}`,
          rowCount: 100,
          minKey: `2024-01-0${day}T00:00:00.000000Z`,
          maxKey: `2024-01-0${day}T23:00:00.000000Z`,
          minId: 'a',
          maxId: 'z',
          nullKeys: day === 4 ? 5 : 0,
        })),
        { descending: false, back, key, id: 'm', limit: 60 },
      );
    expect(files('2024-01-02T12:00:00.000000Z', false)).toEqual(['2', '3']);
    expect(files('2024-01-03T12:00:00.000000Z', true)).toEqual(['2', '3']);
    expect(files(null, false)).toEqual(['4']);
    expect(files('2023-01-01T00:00:00.000000Z', true)).toEqual([]);
  });

  test('the files beside a place hold every row of the page', () => {
    const key = fc.option(
      fc.integer({ min: 0, max: 9 }).map((day) => `2024-01-0${day}T00:00:00.000000Z`),
      { freq: 6 },
    );
    const row = fc.record({ key, id: fc.string({ minLength: 1, maxLength: 2, unit: fc.constantFrom('a', 'b', 'c') }) });
    const files = fc.array(fc.array(row, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(files, row, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 8 }), (tables, place, descending, back, limit) => {
        type One = typeof place;
        const compare = (a: One, b: One) => {
          if (a.key !== b.key) {
            if (a.key === null || b.key === null) return a.key === null ? 1 : -1;
            return (a.key < b.key ? -1 : 1) * (descending ? -1 : 1);
          }
          return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
        };
        const extents = tables.map((list, at): FileExtent => {
          const keys = list.flatMap((each) => each.key ?? []).sort();
          const ids = list.map(({ id }) => id).sort();
          return {
            path: String(at),
            rowCount: list.length,
            minKey: keys[0] ?? null,
            maxKey: keys.at(-1) ?? null,
            minId: ids[0]!,
            maxId: ids.at(-1)!,
            nullKeys: list.length - keys.length,
          };
        });
        const kept = new Set(pickFilesBeside(extents, { descending, back, ...place, limit }));
        const page = tables
          .flatMap((list, at) => list.map((each) => ({ ...each, file: String(at) })))
          .filter((each) => (back ? compare(each, place) < 0 : compare(each, place) > 0))
          .sort((a, b) => (back ? compare(b, a) : compare(a, b)))
          .slice(0, limit);
        const last = page.at(-1);
        // rows that tie with the last one may stand for it
        const needed = page.filter((each) => last === undefined || compare(each, last) !== 0);
        expect(needed.every(({ file }) => kept.has(file))).toBe(true);
        const available = tables.flatMap((list, at) => (kept.has(String(at)) ? list : []));
        const found = available.filter((each) => (back ? compare(each, place) < 0 : compare(each, place) > 0));
        expect(found.length).toBeGreaterThanOrEqual(page.length);
      }),
      { seed, numRuns: 2_000 },
    );
  });
});
