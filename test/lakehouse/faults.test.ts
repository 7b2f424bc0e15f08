import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { FAULTS, FaultyWarehouse } from './faults.ts';
import { layBench, put } from './oracle/bench.ts';
import type { Bench } from './oracle/bench.ts';
import { random } from './oracle/data.ts';
import { makeRequest } from './oracle/generate.ts';
import { Lake } from './support.ts';

const seed = Number(process.env.FC_SEED ?? 1);

let lake: Lake;
let bench: Bench;
beforeAll(async () => {
  lake = await Lake.open();
  bench = await layBench(lake, seed, 300);
});
afterAll(() => lake.close());

class Untouched extends Error {}

/** Refuses to ask what the fault does not touch, so that only telling requests cost time. */
const telling = (patch: (typeof FAULTS)[string]): Warehouse => {
  let touched = false;
  // the count is asked for beside the rows
  const count = 'select count(*) as "c0" from t';
  const touchesCounts = patch({ sql: count, values: [] }).sql !== count;
  return new FaultyWarehouse(lake.warehouse, (statement) => {
    const patched = patch(statement);
    touched ||= patched.sql !== statement.sql || patched.values.some((bound, index) => bound.value !== statement.values[index]?.value);
    if (!touched && !touchesCounts && statement.sql.includes('as "line"')) throw new Untouched();
    return patched;
  });
};

test.each(Object.entries(FAULTS))('%s: caught', async (name, patch) => {
  const r = random(seed);
  let asked = 0;
  for (let index = 0; index < 6000; index += 1) {
    const request = makeRequest(index, bench.rows, r);
    let found: string | null;
    try {
      found = await put(telling(patch), bench, request, index % 4 === 3);
    } catch (error) {
      if (error instanceof Untouched) continue;
      found = String(error);
    }
    asked += 1;
    if (found !== null) return;
  }
  expect.unreachable(`${name} went unnoticed by ${asked} requests that it touched`);
});

test('without a fault the same requests agree', async () => {
  const r = random(seed);
  for (let index = 0; index < 60; index += 1)
    expect(
      await put(new FaultyWarehouse(lake.warehouse, (statement) => statement), bench, makeRequest(index, bench.rows, r), index % 4 === 3),
    ).toBeNull();
});
