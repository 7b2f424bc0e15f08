import type { Context } from '../../context.ts';
import { replaceRegistry } from '../../ingest/dimensions.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import {
  endRegistryChange,
  findRegistryChange,
  holdRegistryChange,
  listMeasuringDevices,
  type RegistryChange,
} from './registry.queries.ts';

/** How long an experiment whose files could not be written is left alone. */
const HOLD_SECONDS = 5;

async function refreshRegistry(ctx: Context, change: RegistryChange): Promise<void> {
  // the names and pseudonyms of the devices' owners come first
  await refreshIdentity(ctx, change.experimentId);
  await ctx.db.transaction(async (tx) => {
    await replaceRegistry(ctx.staging, tx, change.experimentId, await listMeasuringDevices(tx, change.experimentId));
    await endRegistryChange(tx, change);
  });
}

/**
 * Writes to the lake what the registry says of the devices that measured, one experiment after another, until none is due. One that fails is tried again later,
 * and holds back no other. A change that comes while its experiment is being written is due again. Nothing that ingestion waits for is locked until the files
 * are written. The reason is that the owners' names come in a transaction of their own: Postgres cannot see a wait that spans two transactions, and so would
 * not end a deadlock.
 */
export async function refreshChangedRegistries(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const change = await findRegistryChange(ctx.db);
    if (!change) return;
    await refreshRegistry(ctx, change).catch(async (error: unknown) => {
      signal.throwIfAborted();
      ctx.log.warn({ err: error, experimentId: change.experimentId }, 'what the registry says of devices could not be written yet');
      await holdRegistryChange(ctx.db, change.experimentId, HOLD_SECONDS);
    });
  }
}
