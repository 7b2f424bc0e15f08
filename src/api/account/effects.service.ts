import type { Context } from '../../context.ts';
import { reactivateProfile } from './account.queries.ts';

/** A person at the moment of signing in. */
export interface SignedInPerson {
  id: string;
  email: string | null;
  /** Whether the address is proven; nothing may be claimed for one that is not. */
  emailVerified: boolean;
}

/** Something that happens at every kind of sign-in, once the session exists. It may fail: the sign-in does not. */
export interface SignInEffect {
  name: string;
  run(ctx: Context, person: SignedInPerson): Promise<void>;
}

/** In this order, at every sign-in by code, passkey or provider. */
export const SIGN_IN_EFFECTS: readonly SignInEffect[] = [
  {
    name: 'reactivate-profile',
    run: async (ctx, person) => {
      await reactivateProfile(ctx.db, person.id);
    },
  },
];

/** Runs every effect; what fails is logged by name and tried again at the next sign-in. */
export async function runSignInEffects(ctx: Context, person: SignedInPerson): Promise<void> {
  for (const effect of ctx.signInEffects)
    try {
      await effect.run(ctx, person);
    } catch (error) {
      ctx.log.error({ err: error, effect: effect.name, user: person.id }, 'something that goes with a sign-in failed');
    }
}
