import type { Context } from '../../context.ts';
import { replaceRegistry } from '../../ingest/dimensions.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { claimRegistryChange, endRegistryChange, listMeasuringDevices } from './registry.queries.ts';

/**
 * Tells the lake what the registry says of the devices that measured, experiment after experiment, until none is due. A change that comes while its
 * experiment is being written waits for that, and is due again. Several processes share the work.
 */
export async function refreshChangedRegistries(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const experimentId = await ctx.db.transaction(async (tx) => {
      const change = await claimRegistryChange(tx);
      if (!change) return undefined;
      // their owners' pseudonyms first
      await refreshIdentity(ctx, change.experimentId);
      await replaceRegistry(ctx.staging, tx, change.experimentId, await listMeasuringDevices(tx, change.experimentId));
      await endRegistryChange(tx, change.experimentId);
      return change.experimentId;
    });
    if (experimentId === undefined) return;
  }
}
