import { afterAll, beforeAll, expect, test } from 'vitest';
import { abortMany, settled } from '../lakehouse/databricks-aborts.ts';
import { DatabricksLake } from '../lakehouse/databricks-lake.ts';

/** Some go before their statement is sent: so many that a thousand go after it. */
const CALLERS = 3_000 * Math.max(1, Number(process.env['SOAK'] ?? 1));

let lake: DatabricksLake;
beforeAll(async () => {
  lake = await DatabricksLake.open();
});
afterAll(() => lake.close());

test(
  'no operation is left after callers have gone',
  async () => {
    const { gone, sent, cancelled } = await abortMany(lake, CALLERS);
    console.log({ gone, sent, cancelled, sessionsOpened: lake.server.count('OpenSession') });
    expect(await settled(lake)).toEqual([0, 0, 0]);
    expect(gone).toBe(CALLERS);
    expect(cancelled).toBe(sent);
    expect(sent).toBeGreaterThanOrEqual(CALLERS / 3);
  },
  CALLERS * 300,
);
