/** Callers who go away, at every moment of a statement's life. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Statement } from '../../src/lakehouse/terms/warehouse.ts';
import type { DatabricksLake } from './databricks-lake.ts';

const ENDLESS: Statement = {
  sql: 'select cast(sum(a.i * b.i) as STRING) as line from range(10000000) as a(i), range(10000000) as b(i)',
  values: [],
};
const LONG: Statement = { sql: 'select cast(i as STRING) as line from range(500000) as t(i)', values: [] };
const AT_ONCE = 10;
/** Longer than a statement takes from being asked for to its first rows. */
const LATEST_MS = 150;

export interface Aborted {
  /** Callers who were told that they had gone. */
  gone: number;
  /** Statements that the server was sent. */
  sent: number;
  /** Cancellations that it was sent. */
  cancelled: number;
}

export async function abortMany(lake: DatabricksLake, callers: number): Promise<Aborted> {
  const { server, warehouse } = lake;
  const [sent, cancelled] = [server.statements.length, server.count('CancelOperation')];
  let gone = 0;
  for (let turn = 0; turn < callers / AT_ONCE; turn += 1)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, at) => {
        const caller = new AbortController();
        const asked = warehouse.rows(at % 2 === 0 ? ENDLESS : LONG, { signal: caller.signal });
        setTimeout(() => caller.abort(new Error('gone')), ((turn * AT_ONCE + at) * 37) % LATEST_MS);
        await asked.catch((error: Error) => error.message === 'gone' && (gone += 1));
      }),
    );
  await settled(lake);
  return { gone, sent: server.statements.length - sent, cancelled: server.count('CancelOperation') - cancelled };
}

/** Statements that are still known here, at the server, and in its engine, once they have had time to end. */
export async function settled(
  { warehouse, server, engine }: DatabricksLake,
  running: () => number | Promise<number> = () => warehouse.running,
): Promise<number[]> {
  const from = performance.now();
  const left = async () => [await running(), server.left, engine.running];
  while ((await left()).some((count) => count > 0) && performance.now() - from < 10_000) await sleep(5);
  return left();
}
