import { z } from 'zod/mini';

const typed = z.array(z.string().check(z.maxLength(1_024))).check(z.maxLength(2));

/** What the address of a dashboard says about how it is shown. */
export const dashboardSearch = z.object({
  /** Whether it is being edited. */
  edit: z.catch(z.optional(z.boolean()), undefined),
  /** What was typed into its filters, by the filter's id. */
  filters: z.catch(z.optional(z.record(z.uuid(), typed)), undefined),
});

export type TypedFilters = Readonly<Record<string, string[]>>;
