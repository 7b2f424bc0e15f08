import { z } from 'zod/mini';

const version = z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(2_147_483_647))), undefined);

/** The measurement that a macro is tried on, and the versions that are compared, as the address says it. */
export const macroSearch = z.object({
  experiment: z.catch(z.optional(z.uuid()), undefined),
  table: z.catch(z.optional(z.string().check(z.maxLength(255))), undefined),
  row: z.catch(z.optional(z.string().check(z.maxLength(64))), undefined),
  before: version,
  after: version,
});
