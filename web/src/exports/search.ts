import { z } from 'zod/mini';
import { name } from '../table/search.ts';

/** Which exports are seen, as the address says it. */
export const exportsSearch = z.object({
  /** A table by its identifier; the newest of every table when absent. */
  table: z.catch(z.optional(name), undefined),
  page: z.catch(z.optional(z.int().check(z.minimum(1))), undefined),
});
