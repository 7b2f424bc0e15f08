import type { Context } from '../../context.ts';
import { eraseTables } from '../../lakehouse/tables/manifest.ts';
import { printObjectKey } from '../../storage/objects.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { ERASE_EXPERIMENT } from '../experiments/experiments.service.ts';
import { eraseExports } from '../exports/exports.service.ts';
import { eraseInbox } from '../messages/arrivals.service.ts';
import { eraseUploads } from '../uploads/uploads.service.ts';
import { completeErasure, listUnfinished, reportErasure, startErasure } from './erasure.queries.ts';

/** The stores that keep something of an experiment outside its own rows. A new store does not compile until `ERASE` says how it is emptied. */
const STORES = ['messages', 'uploads', 'exports', 'annotations', 'lake', 'answers'] as const;
export type Store = (typeof STORES)[number];

export interface Removed {
  rows: number;
  bytes: number;
}

/** Erases an experiment from the lake. This includes what an interrupted write left, older versions that a bucket keeps, and copies on this machine. */
async function eraseLake(ctx: Context, experimentId: string): Promise<Removed> {
  const removed = await eraseTables(ctx, experimentId);
  await ctx.lake.erase(`${printObjectKey('tables', experimentId)}/`);
  await ctx.lakeFiles.tidy();
  return removed;
}

/** How each store forgets an experiment. After a crash each may run again, and removes the rest. */
const ERASE: Record<Store, (ctx: Context, experimentId: string) => Promise<Removed>> = {
  messages: eraseInbox,
  uploads: eraseUploads,
  exports: eraseExports,
  annotations: (ctx, experimentId) => eraseTables(ctx, experimentId, 'annotation'),
  lake: eraseLake,
  // nobody asks for the answers that other processes keep; they expire with time
  answers: (ctx, experimentId) => Promise.resolve(ctx.pages.forget(experimentId)),
};

/** Empties every store of a deleted experiment, and reports what was removed. */
export async function eraseStores(ctx: Context, erasureId: string): Promise<void> {
  const started = await startErasure(ctx.db, erasureId);
  if (!started) return;
  for (const store of STORES) {
    const removed = await ERASE[store](ctx, started.experimentId);
    await reportErasure(ctx.db, erasureId, store, removed);
  }
  await ctx.db.transaction(async (tx) => {
    await completeErasure(tx, erasureId);
    await auditExperiment(tx, null, started.experimentId, 'experiment.erased', { erasureId });
  });
}

/** Enqueues erasures that are not complete. One whose job waits or runs stays as it is. */
export const wakeErasures = (ctx: Context): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const unfinished = await listUnfinished(tx, 1_000);
    const jobs = unfinished.map((erasureId) => ({ payload: { erasureId }, key: erasureId }));
    await ctx.jobs.enqueueAll(ERASE_EXPERIMENT, jobs, tx);
  });
