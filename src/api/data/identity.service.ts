import { audit } from '../../auth/audit.ts';
import type { Context } from '../../context.ts';
import { replaceIdentity } from '../../ingest/dimensions.ts';
import { eraseRetired } from '../../lakehouse/tables/manifest.ts';
import { derivePseudonym } from '../experiments/pseudonym.service.ts';
import {
  claimIdentityChange,
  endIdentityChange,
  listContributors,
  listExperimentsNaming,
  markRefreshed,
  releaseIdentityChange,
} from './identity.queries.ts';

/** Brings the identity dimension of an experiment up to date: who its contributors are, and what they are called when anonymised. */
export const refreshIdentity = (ctx: Context, experimentId: string): Promise<void> =>
  replaceIdentity({ db: ctx.db, staging: ctx.staging }, experimentId, async () =>
    (await listContributors(ctx.db, experimentId)).map(({ userId, name, avatar, secret }) => ({
      userId,
      name,
      avatar,
      pseudonym: derivePseudonym(secret, userId),
    })),
  );

/** Writes down what was removed from one store because an account was closed. */
const reportErased = (ctx: Context, userId: string, details: { store: 'exports' | 'lake'; experiments: number; files: number }) =>
  ctx.db.transaction((tx) => audit(tx, null, { action: 'user.erased', subjectId: userId, details }));

/**
 * Carries changed names into the lake, one person after another, until no change is due. For a closed account, `eraseExports` removes at once the exports that
 * may hold the name, and answers how many. The old files of the lake are removed `readSeconds` later, when no read can still open them. Several processes may
 * share the work. A change that fails is due again a minute later.
 */
export async function refreshChangedIdentities(
  ctx: Context,
  signal: AbortSignal,
  eraseExports: (ctx: Context, experiments: readonly string[]) => Promise<number>,
  readSeconds?: number,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const change = await claimIdentityChange(ctx.db, readSeconds);
    if (!change) return;
    const experiments = await listExperimentsNaming(ctx.db, change.userId);
    let files = 0;
    for (const experimentId of experiments) {
      signal.throwIfAborted();
      if (change.refreshedAt === null) await refreshIdentity(ctx, experimentId);
      // `refreshedAt` lost its microseconds when it was read, so a millisecond is added
      else
        files += await eraseRetired(ctx.db, ctx.staging, {
          experimentId,
          kind: 'identity',
          before: new Date(change.refreshedAt.getTime() + 1),
        });
    }
    if (change.isClosed && change.refreshedAt === null && experiments.length > 0) {
      await reportErased(ctx, change.userId, {
        store: 'exports',
        experiments: experiments.length,
        files: await eraseExports(ctx, experiments),
      });
      await markRefreshed(ctx.db, change);
    } else {
      if (change.isClosed) await reportErased(ctx, change.userId, { store: 'lake', experiments: experiments.length, files });
      await endIdentityChange(ctx.db, change);
      await releaseIdentityChange(ctx.db, change);
    }
  }
}
