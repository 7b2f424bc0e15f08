import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDistinct } from '../../src/lakehouse/read/read.ts';
import { layBench, put } from './oracle/bench.ts';
import type { Bench } from './oracle/bench.ts';
import { agreesAsText } from './oracle/compare.ts';
import { KINDS, random } from './oracle/data.ts';
import type { CellKind } from './oracle/data.ts';
import { evaluateDistinct } from './oracle/evaluate.ts';
import { FUNCTION_CELLS, OPERATOR_CELLS, makeRequest } from './oracle/generate.ts';
import { Lake } from './support.ts';

const soak = Number(process.env.SOAK ?? 0);
const requests = soak > 0 ? 10_000 * soak : 400;
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);

let lake: Lake;
let bench: Bench;
beforeAll(async () => {
  console.log(`oracle: FC_SEED=${seed}, ${requests} requests`);
  lake = await Lake.open();
  bench = await layBench(lake, seed, 300);
});
afterAll(() => lake.close());

const table = (title: string, cells: readonly (readonly [string, CellKind])[], counts: ReadonlyMap<string, number>) => {
  const names = [...new Set(cells.map(([name]) => name))];
  const has = new Set(cells.map((cell) => cell.join(' ')));
  const lines = names.map((name) =>
    [
      name.padEnd(22),
      ...KINDS.map((kind) => (has.has(`${name} ${kind}`) ? String(counts.get(`${name} ${kind}`) ?? 0) : '-').padStart(7)),
    ].join(''),
  );
  console.log([`${title.padEnd(22)}${KINDS.map((kind) => kind.padStart(7)).join('')}`, ...lines].join('\n'));
};

test(
  'the engine agrees with the oracle',
  async () => {
    const r = random(seed);
    const [operators, functions] = [new Map<string, number>(), new Map<string, number>()];
    const zoneDays = new Map<string, number>();
    const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
    for (let index = 0; index < requests; index += 1) {
      const asked = makeRequest(index, bench.rows, r);
      const found = await put(lake.warehouse, bench, asked, index % 4 === 3);
      expect(found, `FC_SEED=${seed}, request ${index}: ${JSON.stringify(asked)}`).toBeNull();
      for (const filter of asked.filters) add(operators, `${filter.operator} ${filter.column}`);
      for (const call of asked.aggregation?.functions ?? []) add(functions, `${call.function} ${call.column}`);
      for (const key of asked.aggregation?.groupBy ?? []) if (key.column === 'at' && key.timezone) add(zoneDays, key.timezone);
    }
    // each column holds nulls and values in every file, so each filter was put to both
    for (const kind of KINDS)
      expect(bench.rows.some((row) => row.cells[kind] === null) && bench.rows.some((row) => row.cells[kind] !== null)).toBe(true);
    table('operator (null and present)', OPERATOR_CELLS, operators);
    table('aggregate', FUNCTION_CELLS, functions);
    console.log('buckets over daylight-saving days:', Object.fromEntries(zoneDays));
    // fewer requests leave some cells to chance: there the table is printed only
    const least = requests >= 10_000 ? 20 : 0;
    for (const cell of OPERATOR_CELLS) expect(operators.get(cell.join(' ')) ?? 0, cell.join(' ')).toBeGreaterThanOrEqual(least);
    for (const cell of FUNCTION_CELLS) expect(functions.get(cell.join(' ')) ?? 0, cell.join(' ')).toBeGreaterThanOrEqual(least);
  },
  300_000 + requests * 100,
);

test('distinct values, with names and with pseudonyms', async () => {
  for (const anonymised of [false, true]) {
    for (const column of [...KINDS, 'id', 'uploaded_at', 'contributor.id', 'contributor.name', 'contributor.avatar']) {
      for (const limit of [0, 1, 5, 1000]) {
        const wanted = evaluateDistinct(bench.rows, column, limit, anonymised);
        const found = await readDistinct(lake.warehouse, anonymised ? bench.sources.anonymised : bench.sources.named, column, limit);
        expect(found.truncated, `${column} ${limit}`).toBe(wanted.truncated);
        const finite = wanted.values.filter((value) => value.kind !== 'dbl' || Number.isFinite(value.cell));
        expect(
          found.values.every((value, index) => finite[index] !== undefined && agreesAsText(finite[index], value)) &&
            found.values.length === finite.length,
          `${column} ${limit}`,
        ).toBe(true);
      }
    }
  }
});
