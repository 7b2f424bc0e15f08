import { z } from 'zod/mini';

/** A path of ours: nothing that a browser would read as another host. */
const OWN_PATH = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/;

/** Where to go afterwards, and why the last try at a provider failed. A place that is no path of ours is forgotten. */
export const signInSearch = z.object({
  next: z.catch(z.optional(z.string().check(z.regex(OWN_PATH), z.maxLength(2_048))), undefined),
  error: z.catch(z.optional(z.string().check(z.maxLength(100))), undefined),
});

export const newsletterSearch = z.object({ token: z.catch(z.string().check(z.maxLength(2_000)), '') });
