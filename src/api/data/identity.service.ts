import type { Context } from '../../context.ts';
import { replaceIdentity } from '../../ingest/dimensions.ts';
import { eraseRetired } from '../../lakehouse/manifest.ts';
import { pseudonymOf } from '../experiments/pseudonym.service.ts';
import { claimIdentityChange, endIdentityChange, listContributors, listExperimentsNaming, markRefreshed } from './identity.queries.ts';

/** No read still opens files that were retired so long ago. */
const READ_SECONDS = 60;

/** Brings the identity dimension of an experiment up to date: who its contributors are, and what they are called when anonymised. */
export const refreshIdentity = (ctx: Context, experimentId: string): Promise<void> =>
  replaceIdentity({ db: ctx.db, staging: ctx.staging }, experimentId, async () =>
    (await listContributors(ctx.db, experimentId)).map(({ userId, name, avatar, secret }) => ({
      userId,
      name,
      avatar,
      pseudonym: pseudonymOf(secret, userId),
    })),
  );

/**
 * Carries changed names into the lake, person after person, until none is due. Of a closed account the files that still hold the name are removed too,
 * `readSeconds` after the last version that read them. Several processes share the work; what fails is due again a minute later.
 */
export async function refreshChangedIdentities(ctx: Context, signal: AbortSignal, readSeconds = READ_SECONDS): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const change = await claimIdentityChange(ctx.db, readSeconds);
    if (!change) return;
    const experiments = await listExperimentsNaming(ctx.db, change.userId);
    for (const { experimentId } of experiments) {
      signal.throwIfAborted();
      if (change.refreshedAt === null) await refreshIdentity(ctx, experimentId);
      // times are cut to milliseconds on their way here
      else await eraseRetired(ctx.db, ctx.staging, { experimentId, kind: 'identity', before: new Date(change.refreshedAt.getTime() + 1) });
    }
    if (change.isClosed && change.refreshedAt === null && experiments.length > 0) await markRefreshed(ctx.db, change);
    else await endIdentityChange(ctx.db, change);
  }
}
