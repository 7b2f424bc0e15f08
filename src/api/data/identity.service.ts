import { createHmac } from 'node:crypto';
import type { Context } from '../../context.ts';
import { replaceIdentity } from '../../ingest/dimensions.ts';
import { listContributors } from './identity.queries.ts';

/** The name of a contributor in an anonymised experiment: 16 hex digits of an HMAC under the experiment's own secret. */
export const pseudonymOf = (secret: Buffer, userId: string): string =>
  `Contributor-${createHmac('sha256', secret).update(userId).digest('hex').slice(0, 16).toUpperCase()}`;

/** Brings the identity dimension of an experiment up to date: who its contributors are, and what they are called when anonymised. */
export async function refreshIdentity(ctx: Context, experimentId: string): Promise<void> {
  const people = await listContributors(ctx.db, experimentId);
  if (people.length === 0) return;
  await replaceIdentity(
    { db: ctx.db, staging: ctx.staging },
    experimentId,
    people.map(({ userId, name, avatar, secret }) => ({ userId, name, avatar, pseudonym: pseudonymOf(secret, userId) })),
  );
}
