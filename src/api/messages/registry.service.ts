import type { Context } from '../../context.ts';
import { replaceRegistry } from '../../ingest/dimensions.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { endRegistryChange, findRegistryChange, listMeasuringDevices } from './registry.queries.ts';

/**
 * Tells the lake what the registry says of the devices that measured, experiment after experiment, until none is due. A change that comes while its
 * experiment is being written is due again. Nothing that ingestion waits for is locked until the files are written: their owners' names come in a
 * transaction of their own, and a wait that spans two is one that Postgres cannot see.
 */
export async function refreshChangedRegistries(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const change = await findRegistryChange(ctx.db);
    if (!change) return;
    // their owners' pseudonyms first
    await refreshIdentity(ctx, change.experimentId);
    await ctx.db.transaction(async (tx) => {
      await replaceRegistry(ctx.staging, tx, change.experimentId, await listMeasuringDevices(tx, change.experimentId));
      await endRegistryChange(tx, change);
    });
  }
}
