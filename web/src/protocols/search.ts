import { z } from 'zod/mini';

const version = z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(2_147_483_647))), undefined);

/** The versions that are compared, as the address says it. */
export const protocolSearch = z.object({ before: version, after: version });
