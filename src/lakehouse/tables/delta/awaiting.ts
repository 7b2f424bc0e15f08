/** Waits until a reader of Delta tables can see what was committed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../../database/database.ts';
import { errors } from '../../../errors.ts';
import type { LiveTable } from '../../terms/plan.ts';
import { countUnpublished } from './log.queries.ts';

/** A worker publishes twice a second. */
const LOOK_MS = 100;
const MOST_MS = 5_000;

/** Settles when the logs of these tables have these versions; throws `errors.lakeNotPublished` after five seconds. */
export async function waitPublished(db: Queryable, tables: readonly LiveTable[]): Promise<void> {
  const until = performance.now() + MOST_MS;
  while (tables.length > 0 && (await countUnpublished(db, tables)) > 0) {
    if (performance.now() > until) throw errors.lakeNotPublished();
    await sleep(LOOK_MS);
  }
}
