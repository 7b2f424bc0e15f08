import { z } from 'zod/mini';

/** Why the last try to link a provider failed, as the address says it. */
export const accountSearch = z.object({ error: z.catch(z.optional(z.string().check(z.maxLength(100))), undefined) });
