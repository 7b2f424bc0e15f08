import type { Context } from '../../context.ts';
import { replaceRegistry } from '../../ingest/dimensions.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { endRegistryChange, findRegistryChange, listMeasuringDevices } from './registry.queries.ts';

/**
 * Writes to the lake what the registry says of the devices that measured, one experiment after another, until none is due. A change that comes while its
 * experiment is being written is due again. Nothing that ingestion waits for is locked until the files are written. The reason is that the owners' names come
 * in a transaction of their own: Postgres cannot see a wait that spans two transactions, and so would not end a deadlock.
 */
export async function refreshChangedRegistries(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const change = await findRegistryChange(ctx.db);
    if (!change) return;
    // the names and pseudonyms of the devices' owners come first
    await refreshIdentity(ctx, change.experimentId);
    await ctx.db.transaction(async (tx) => {
      await replaceRegistry(ctx.staging, tx, change.experimentId, await listMeasuringDevices(tx, change.experimentId));
      await endRegistryChange(tx, change);
    });
  }
}
