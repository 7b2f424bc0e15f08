import { createHmac } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import { isAllowed } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { findAnonymity } from './membership.queries.ts';

/**
 * Derives the name of a person in an anonymised experiment: `Contributor-` and 16 hex digits of an HMAC-SHA256 over the user id, under the experiment's own
 * secret. Two experiments name the same person differently, and without the secret nobody can tell who it is.
 */
export const derivePseudonym = (secret: Buffer, userId: string): string =>
  `Contributor-${createHmac('sha256', secret).update(userId.toLowerCase()).digest('hex').slice(0, 16).toUpperCase()}`;

interface Made {
  createdBy: string;
  createdByName?: string;
}

/**
 * Loads the function by which an experiment names the makers of things to a caller. An anonymised experiment gives pseudonyms, except to the caller for their
 * own things. Callers who manage the experiment see all real names.
 */
export async function loadNaming(ctx: Context, { userId }: Caller, experimentId: string): Promise<<M extends Made>(made: M) => M> {
  const anonymity = await findAnonymity(ctx.db, experimentId);
  if (anonymity?.isAnonymised !== true || (await isAllowed(ctx.db, userId, 'experiment', experimentId, 'manage'))) return (made) => made;
  return (made) => {
    if (made.createdBy === userId) return made;
    const pseudonym = derivePseudonym(anonymity.secret, made.createdBy);
    return { ...made, createdBy: pseudonym, ...(made.createdByName === undefined ? {} : { createdByName: pseudonym }) };
  };
}
