import { afterAll, beforeAll, expect, test } from 'vitest';
import { raw } from '../../src/lakehouse/terms/dialect.ts';
import { buildHalfInterval, buildStandardError } from '../../src/lakehouse/compile/student.ts';
import { Lake } from './support.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await Lake.open();
});
afterAll(() => lake.close());

/** Quantiles at 0.975 by degrees of freedom, as scipy 1 gives them. */
const FACTS: readonly (readonly [number, number])[] = [
  [1, 12.706204736174694],
  [2, 4.302652729749462],
  [5, 2.5705818356363146],
  [12, 2.1788128296672284],
  [13, 2.1603686564627913],
  [15, 2.131449545559776],
  [20, 2.085963447265864],
  [30, 2.0422724563012378],
  [50, 2.008559112100761],
  [100, 1.9839715185235518],
  [1000, 1.9623390808264083],
  [99_999, 1.9599877077718442],
];

const ask = async (sql: string) => Number((await lake.warehouse.rows({ sql: `select (${sql}) as v`, values: [] }))[0]?.v ?? NaN);

test.each(FACTS)('the quantile for %i degrees of freedom is right to a millionth', async (degrees, known) => {
  const of = [raw('1e0'), raw(`cast(${degrees + 1} as bigint)`)] as const;
  const found = (await ask(buildHalfInterval(...of).text)) / (await ask(buildStandardError(...of).text));
  expect(Math.abs(found / known - 1)).toBeLessThan(1e-6);
});

test.each([0, 1])('%i values have no interval', async (count) => {
  expect(await ask(buildHalfInterval(raw('1e0'), raw(`cast(${count} as bigint)`)).text)).toBeNaN();
});
