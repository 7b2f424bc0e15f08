/** Groups that do not fit into an answer are counted in the one pass that makes the others, where the table is large: the same answer either way. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIGINT, STRING } from '../../src/lakehouse/terms/catalog.ts';
import { joinLines, type LineCount } from '../../src/lakehouse/read/frame.ts';
import { readPage } from '../../src/lakehouse/read/read.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import type { Statement, StreamFormat, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { EXPERIMENT, Lake, source, uploaded } from './support.ts';

const GROUPS = 2_500;
const COLUMNS = [uploaded('n', BIGINT), uploaded('txt', STRING)];
let lake: Lake;
let file: string;
beforeAll(async () => {
  lake = await Lake.open();
  file = await lake.write(`select i::varchar as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
    null::varchar as contributor_id, case when i % ${GROUPS} > 0 then i % ${GROUPS} end::bigint as n, 'line' || chr(10) || i % 3 as txt from range(6000) t(i)`);
});
afterAll(() => lake.close());

/** A warehouse that counts its statements. */
function counting(): { through: Warehouse; statements: () => number } {
  let made = 0;
  const { warehouse } = lake;
  const through = Object.create(warehouse, {
    rows: { value: (statement: Statement, options: object) => ((made += 1), warehouse.rows(statement, options)) },
    stream: {
      value: (statement: Statement, format: StreamFormat, options: object) => ((made += 1), warehouse.stream(statement, format, options)),
    },
  }) as Warehouse;
  return { through, statements: () => made };
}

const asked = (limit: number | undefined, more: Partial<ReadRequest> = {}): ReadRequest => ({
  aggregation: {
    groupBy: [{ column: 'n' }],
    functions: [
      { column: 'txt', function: 'max' },
      { column: '*', function: 'count' },
    ],
  },
  ...(limit === undefined ? {} : { limit }),
  ...more,
});

test.each([1, 7, 999, 1_000, 1_001, 1_500, GROUPS - 1, GROUPS, GROUPS + 1, undefined])(
  'up to %s groups and the number of all of them are those of two statements',
  async (limit) => {
    for (const more of [{}, { orderDirection: 'DESC' as const }, { orderBy: 'count_count', orderDirection: 'DESC' as const }]) {
      const answers = [];
      for (const rowCount of [6_000, 10_000_000]) {
        const { through, statements } = counting();
        const page = await readPage(through, source([file], { expanded: COLUMNS, rowCount }), asked(limit, more));
        const rows = JSON.parse(`[${await text(page.rows)}]`) as unknown[];
        answers.push({ rows, counts: page.counts() });
        const isCut = limit !== undefined && limit < GROUPS;
        expect(statements()).toBe(isCut && rowCount < 10_000_000 ? 2 : 1);
        expect(page.counts()).toMatchObject({ totalRows: GROUPS, truncated: isCut });
      }
      expect(answers[1]).toEqual(answers[0]);
    }
  },
);

test('what stands beyond the last line is found wherever chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ minLength: 1 }).map((line) => line.replaceAll('\n', ' ')),
        { maxLength: 6 },
      ),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
      async (lines, limit, sizes) => {
        const bytes = Buffer.from(
          [...lines.slice(0, limit), ...(lines.length > limit ? ['12345'] : [])].map((line) => `${line}\n`).join(''),
        );
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(Buffer.from(bytes.subarray(at, at + size)));
          at += size;
        }
        const seen: LineCount = { rows: 0, cut: false };
        const joined = await text(Readable.from(joinLines(Readable.from(chunks), limit, seen, true)));
        expect(joined).toBe(lines.slice(0, limit).join(','));
        expect(seen.cut).toBe(lines.length > limit);
        if (seen.cut) expect(Number(seen.beyond)).toBe(12_345);
      },
    ),
  );
});
