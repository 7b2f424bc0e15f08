import { z } from 'zod/mini';
import { MACRO_LANGUAGES } from './kinds.ts';

/** What is listed of the library, as the address says it. What cannot be read is left out. */
export const librarySearch = z.object({
  scope: z.catch(z.optional(z.enum(['related', 'all'])), undefined),
  find: z.catch(z.optional(z.string().check(z.maxLength(200))), undefined),
  language: z.catch(z.optional(z.enum(MACRO_LANGUAGES)), undefined),
  page: z.catch(z.optional(z.int().check(z.minimum(1))), undefined),
});
export type LibrarySearch = z.infer<typeof librarySearch>;

const version = z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(2_147_483_647))), undefined);

/** The versions of one thing that are compared, as the address says it. */
export const comparedSearch = z.object({ before: version, after: version });
