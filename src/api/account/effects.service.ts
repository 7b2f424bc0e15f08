import type { Context } from '../../context.ts';
import { claimInvitations } from '../invitations/invitations.service.ts';
import { reactivateProfile } from './account.queries.ts';

/** A person at the moment of signing in. */
interface SignedInPerson {
  id: string;
  /** Whether the address is proven. Nothing may be claimed for an address that is not. */
  emailVerified: boolean;
}

/** What happens at every sign-in by code, passkey or provider, in this order, once the session exists. An effect may fail without failing the sign-in. */
const EFFECTS: Readonly<Record<string, (ctx: Context, person: SignedInPerson) => Promise<unknown>>> = {
  'reactivate-profile': (ctx, { id }) => reactivateProfile(ctx.db, id),
  'claim-invitations': claimInvitations,
};

/** Runs every effect. One that fails is logged by name, and tried again at the next sign-in. */
export async function runSignInEffects(ctx: Context, person: SignedInPerson): Promise<void> {
  for (const [effect, run] of Object.entries(EFFECTS))
    try {
      await run(ctx, person);
    } catch (error) {
      ctx.log.error({ err: error, effect, user: person.id }, 'something that goes with a sign-in failed');
    }
}
