import { z } from 'zod/mini';
import { comparedSearch } from '../library/search.ts';

/** The measurement that a macro is tried on, and the versions that are compared, as the address says it. */
export const macroSearch = z.extend(comparedSearch, {
  experiment: z.catch(z.optional(z.uuid()), undefined),
  table: z.catch(z.optional(z.string().check(z.maxLength(255))), undefined),
  row: z.catch(z.optional(z.string().check(z.maxLength(64))), undefined),
});
