import { z } from 'zod/mini';

export const TYPES = ['multispeq', 'ambyte', 'minipar', 'generic', 'ambit', 'mobile'] as const;
/** How many days back a device is looked at. */
export const SPANS = [1, 7, 31] as const;
export type Span = (typeof SPANS)[number];

const page = z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))), undefined);
const search = z.catch(z.optional(z.string().check(z.maxLength(200))), undefined);

/** What the fleet shows, as the address says it. */
export const fleetSearch = z.object({
  search,
  type: z.catch(z.optional(z.enum(TYPES)), undefined),
  scope: z.catch(z.optional(z.enum(['related', 'all'])), undefined),
  view: z.catch(z.optional(z.enum(['list', 'map'])), undefined),
  page,
});
export type FleetSearch = z.infer<typeof fleetSearch>;

/** How far back a device is looked at, as the address says it. */
export const deviceSearch = z.object({ days: z.catch(z.optional(z.literal(SPANS)), undefined) });

export const groupsSearch = z.object({ search, page });
export type GroupsSearch = z.infer<typeof groupsSearch>;
