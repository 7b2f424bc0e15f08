import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DOUBLE, STRING } from '../../src/lakehouse/terms/catalog.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import { readSample } from '../../src/lakehouse/read/sample.ts';
import { EXPERIMENT, Lake, source, uploaded } from './support.ts';

const ROWS = 30_000;
const GROUPS = 20;

let lake: Lake;
let files: string[];
beforeAll(async () => {
  lake = await Lake.open();
  // rows of one source follow each other by id, time and group
  const write = (part: number) =>
    lake.write(`
      select printf('%020x%012x', ${part}, i) as id, '${EXPERIMENT}' as experiment_id, timestamptz '2026-01-0${part} 00:00:00+00' as uploaded_at,
        'up' as upload_id, 'u1' as contributor_id, printf('g%02d', (${part - 1} * ${ROWS / 3} + i) * ${GROUPS} // ${ROWS}) as plot, i % 1000 / 10 as spad
      from range(${ROWS / 3}) t(i)`);
  files = await Promise.all([1, 2, 3].map(write));
});
afterAll(() => lake.close());

async function sample(request: ReadRequest, rowCount?: number) {
  const key = (part: number) => `2026-01-0${part}T00:00:00.000000Z`;
  const extents = files.map((path, at) => ({
    ...{ path, rowCount: ROWS / 3, nullKeys: 0, minKey: key(at + 1), maxKey: key(at + 1) },
    ...{ minId: `${at + 1}`.padStart(20, '0').padEnd(32, '0'), maxId: `${at + 1}`.padStart(20, '0').padEnd(32, 'f') },
  }));
  const from = source(files, { expanded: [uploaded('plot', STRING), uploaded('spad', DOUBLE)], extents, rowCount });
  const read = await readSample(lake.warehouse, from, request);
  const rows = JSON.parse(`[${await text(read.rows)}]`) as { id: string; plot: string; spad: number }[];
  return { rows, counts: read.counts() };
}

const plotsOf = (rows: readonly { plot: string }[]) => new Set(rows.map(({ plot }) => plot)).size;
const mean = (rows: readonly { spad: number }[]) => rows.reduce((sum, { spad }) => sum + spad, 0) / rows.length;

test.each([undefined, ROWS])('a sample is of the whole table, in order, and the same each time (rows known: %s)', async (rowCount) => {
  const request: ReadRequest = { columns: ['id', 'plot', 'spad'], orderBy: 'plot', limit: 5_000 };
  const { rows, counts } = await sample(request, rowCount);
  expect(counts).toMatchObject({ rows: rows.length, totalRows: ROWS, truncated: true });
  expect([rows.length > 4_300, rows.length <= 5_000, plotsOf(rows)]).toEqual([true, true, GROUPS]);
  expect(rows.map(({ plot }) => plot)).toEqual(rows.map(({ plot }) => plot).sort());
  // five standard errors of 4,600 values of which one deviates by 29
  expect(Math.abs(mean(rows) - 49.95)).toBeLessThan(2.2);
  expect(await sample(request, rowCount)).toEqual({ rows, counts });
  const fewer = await sample({ ...request, limit: 1_000 }, rowCount);
  const picked = new Set(rows.map(({ id }) => id));
  expect(fewer.rows.every(({ id }) => picked.has(id))).toBe(true);
});

test('a sample of filtered rows has about as many of them', async () => {
  const filters = [{ column: 'plot', operator: 'greater_than_or_equal', value: 'g10' }] as const;
  const { rows, counts } = await sample({ columns: ['plot'], filters, limit: 5_000 }, ROWS);
  expect(counts).toMatchObject({ totalRows: ROWS / 2, truncated: true });
  expect([rows.length > 4_300, plotsOf(rows)]).toEqual([true, GROUPS / 2]);
});

test('every row is read where there is room for all', async () => {
  const { rows, counts } = await sample({ columns: ['plot'], orderBy: 'plot', limit: ROWS }, ROWS);
  expect([rows.length, counts.totalRows, counts.truncated]).toEqual([ROWS, ROWS, false]);
});
