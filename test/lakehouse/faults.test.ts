import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Statement } from '../../src/lakehouse/terms/warehouse.ts';
import { FAULTS, FaultyWarehouse, type Patch } from './faults.ts';
import { layBench, put } from './oracle/bench.ts';
import type { Bench } from './oracle/bench.ts';
import { random } from './oracle/data.ts';
import type { Asked } from './oracle/evaluate.ts';
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

class Known extends Error {}

const generator = random(seed);
/** Requests, each with the statements that it leads to as far as its rows: found once for all faults, which touch few of them. */
const prepared: { request: Asked; statements: Statement[] }[] = [];

async function prepare(index: number): Promise<void> {
  const request = makeRequest(index, bench.rows, generator);
  const statements: Statement[] = [];
  const noting = new FaultyWarehouse(lake.warehouse, (statement) => {
    statements.push(statement);
    if (statement.sql.includes('as "line"')) throw new Known();
    return statement;
  });
  prepared.push({ request, statements });
  await put(noting, bench, request, index % 4 === 3).catch((error: unknown) => {
    if (!(error instanceof Known)) throw error;
  });
}

// the count is asked for beside the rows
const COUNT: Statement = { sql: 'select count(*) as "c0" from t', values: [] };

function touches(patch: Patch, statement: Statement): boolean {
  const { sql, values } = patch(statement);
  return sql !== statement.sql || values.some((bound, index) => bound.value !== statement.values[index]?.value);
}

test.each(Object.entries(FAULTS))('%s: caught', async (name, patch) => {
  let asked = 0;
  for (let index = 0; index < 6000; index += 1) {
    if (prepared.length === index) await prepare(index);
    const { request, statements } = prepared[index]!;
    if (![COUNT, ...statements].some((statement) => touches(patch, statement))) continue;
    const faulty = new FaultyWarehouse(lake.warehouse, patch);
    const found = await put(faulty, bench, request, index % 4 === 3).catch(String);
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
