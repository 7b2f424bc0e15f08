import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIGINT } from '../../src/lakehouse/terms/catalog.ts';
import type { FileExtent } from '../../src/lakehouse/terms/extents.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { describePlan, readPage } from '../../src/lakehouse/read/read.ts';
import { EXPERIMENT, Lake, source, uploaded } from './support.ts';

const ROWS = 5_000;
/** Rows that share a key; pages begin and end amid them. */
const TIED = 37;

/** One file in the table's own order, in row groups of which a page needs few. */
const select = (name: string) => `
  select * from (
    select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' + to_minutes(i // ${TIED}) as uploaded_at,
      'u' as contributor_id, (i * 7919 % ${ROWS})::bigint as "${name}" from range(${ROWS}) t(i)
  ) order by uploaded_at, id`;

let lake: Lake;
beforeAll(async () => {
  lake = await Lake.open();
});
afterAll(() => lake.close());

async function tableOf(name: string): Promise<TableSource> {
  const path = await lake.write(select(name));
  const [facts] = await lake.warehouse.rows({
    sql: `select strftime(min(make_timestamp(epoch_us(uploaded_at))), '%Y-%m-%dT%H:%M:%S.%fZ') as low, min(id) as first, max(id) as last,
      strftime(max(make_timestamp(epoch_us(uploaded_at))), '%Y-%m-%dT%H:%M:%S.%fZ') as high from read_parquet('${path}')`,
    values: [],
  });
  const extent: FileExtent = {
    path,
    rowCount: ROWS,
    minKey: facts?.low as string,
    maxKey: facts?.high as string,
    minId: facts?.first as string,
    maxId: facts?.last as string,
    nullKeys: 0,
  };
  return source([path], { expanded: [uploaded(name, BIGINT)], extents: [extent], rowCount: ROWS });
}

const pageOf = async (table: TableSource, request: object) => {
  const { rows } = await readPage(lake.warehouse, table, request);
  return JSON.parse(`[${await text(rows)}]`) as { id: string }[];
};

describe.each(['n', 'file_row_number', 'FILE_ROW_NUMBER'])('a file that alone holds a page, with a column named %s', (name) => {
  test.each(['ASC', 'DESC'])('its pages %s are those that are found without knowing how it lies', async (orderDirection) => {
    const known = await tableOf(name);
    const { extents: _, ...unknown } = known;
    for (const [page, pageSize] of [
      [1, 1],
      [1, 5],
      [1, TIED],
      [1, 100],
      [2, 50],
      [7, 100],
      [50, 100],
      [51, 100],
    ] as const) {
      const request = { columns: ['id', name], orderDirection, page, pageSize };
      expect(await pageOf(known, request), `page ${page} of ${pageSize}`).toEqual(await pageOf(unknown, request));
    }
  });
});

test('where rows stand is asked for only where nothing else decides', async () => {
  const table = await tableOf('n');
  const asksPlaces = (request: object) => describePlan(lake.warehouse.dialect, table, request).statement.includes('file_row_number');
  expect(asksPlaces({ pageSize: 100 })).toBe(true);
  expect(asksPlaces({ pageSize: 100, filters: [{ column: 'n', operator: 'greater_than', value: 5 }] })).toBe(false);
  expect(asksPlaces({ pageSize: 100, orderBy: 'n' })).toBe(false);
});
