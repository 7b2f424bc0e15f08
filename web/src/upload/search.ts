import { z } from 'zod/mini';

/** Which page of the history is seen, as the address says it. */
export const uploadsSearch = z.object({ page: z.catch(z.optional(z.int().check(z.minimum(1))), undefined) });
