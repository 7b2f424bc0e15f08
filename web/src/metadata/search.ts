import { z } from 'zod/mini';

/** Which metadata tables of an experiment are seen, as the address says it. */
export const metadataListSearch = z.object({
  page: z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))), undefined),
});

/** Whether one is being edited, as the address says it. */
export const metadataSearch = z.object({ edit: z.catch(z.optional(z.boolean()), undefined) });
