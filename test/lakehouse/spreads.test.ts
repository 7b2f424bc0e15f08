import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIGINT, DOUBLE, INT, STRING, makeDecimal } from '../../src/lakehouse/terms/catalog.ts';
import { readRequest } from '../../src/lakehouse/ask/request.ts';
import { EXPERIMENT, Lake, page, source, uploaded } from './support.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await Lake.open();
});
afterAll(() => lake.close());

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);

const COLUMNS = [
  uploaded('side', STRING),
  uploaded('int', INT),
  uploaded('big', BIGINT),
  uploaded('dec', makeDecimal(38, 2)),
  uploaded('part', makeDecimal(38, 38)),
  uploaded('dbl', DOUBLE),
  uploaded('near', DOUBLE),
];
const SPREADS = ['std', 'var', 'sem', 'ci95', 'corr'];
const NUMBERS = ['int', 'big', 'dec', 'dbl'];

const call = (name: string, column: string) => ({
  column,
  function: name,
  alias: `${column} ${name}`,
  ...(name === 'corr' ? { secondColumn: 'near' } : {}),
});

const spreadsOf = async (rows: readonly { side: string; value: number }[], far: bigint, columns: readonly string[]) => {
  const lines = rows.map(({ side, value }) => {
    const at = (from: bigint) => (side === 'far' ? from : 0n) + BigInt(value);
    const int = at(far > 2_000_000_000n ? 2_000_000_000n : far);
    const double = at(far > 4_000_000_000_000_000n ? 4_000_000_000_000_000n : far);
    return `('${side}', ${int}, ${at(far)}, ${at(far)}.25, 0.${String(at(far)).padStart(38, '0')}, ${double}, ${(value * 7) % 5})`;
  });
  const file =
    await lake.write(`select row_number() over () || '' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
    '' as upload_id, '' as contributor_id, side, int::integer as int, big::bigint as big, dec::decimal(38, 2) as dec, part::decimal(38, 38) as part,
    dbl::double as dbl, near::double as near from (values ${lines.join(', ')}) t(side, int, big, dec, part, dbl, near)`);
  const aggregation = { groupBy: [{ column: 'side' }], functions: columns.flatMap((column) => SPREADS.map((name) => call(name, column))) };
  const { data } = await page(
    lake.warehouse,
    source([file], { expanded: COLUMNS }),
    readRequest({ aggregation: JSON.stringify(aggregation) }),
  );
  return data.rows;
};

const closely = (found: unknown, known: unknown): boolean =>
  found === known || Math.abs(Number(found) - Number(known)) <= 1e-9 * Math.abs(Number(known));

test('a spread is the same wherever the values begin', async () => {
  console.log(`spreads: FC_SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 2, maxLength: 20 }),
      fc.bigInt({ min: 0n, max: 2n ** 63n - 1001n }),
      async (values, far) => {
        const [there, here] = await spreadsOf(
          ['far', 'here'].flatMap((side) => values.map((value) => ({ side, value }))),
          far,
          NUMBERS,
        );
        const { side: _far, ...found } = there ?? {};
        const { side: _here, ...known } = here ?? {};
        for (const [name, value] of Object.entries(found)) expect([name, value, closely(value, known[name])]).toEqual([name, value, true]);
      },
    ),
    { seed, numRuns: 30 },
  );
});

test('spreads of the widest types are those of their last digits', async () => {
  const rows = [1, 3, 5, 1].map((value) => ({ side: 'far', value }));
  const [found] = await spreadsOf(rows, 2n ** 53n - 6n, ['int', 'big', 'dec', 'dbl']);
  const variance = 11 / 3;
  for (const column of NUMBERS) expect(found?.[`${column} var`]).toBeCloseTo(variance, 12);
  // a difference of two of 38 digits can have 39, of which the last is rounded
  const [small] = await spreadsOf(
    rows.map(({ value }) => ({ side: 'here', value: value * 10 })),
    0n,
    ['part'],
  );
  expect(Number(small?.['part std']) * 1e37).toBeCloseTo(Math.sqrt(variance), 12);
});

test('a value without a partner, however far away, changes no correlation', async () => {
  const file =
    await lake.write(`select row_number() over () || '' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
    '' as upload_id, '' as contributor_id, big::bigint as big, dbl::double as dbl, near::double as near
    from (values (1, 1, 2), (2, 2, 1), (3, 3, 3), (-9e18::bigint, -1e18, null)) t(big, dbl, near)`);
  const columns = [uploaded('big', BIGINT), uploaded('dbl', DOUBLE), uploaded('near', DOUBLE)];
  const aggregation = { groupBy: [], functions: [call('corr', 'big'), call('corr', 'dbl')] };
  const { data } = await page(
    lake.warehouse,
    source([file], { expanded: columns }),
    readRequest({ aggregation: JSON.stringify(aggregation) }),
  );
  expect(data.rows).toEqual([{ 'big corr': 0.5, 'dbl corr': 0.5 }]);
});
