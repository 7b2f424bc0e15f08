import { z } from 'zod/mini';
import { BUCKETS, FUNCTIONS } from './aggregates.ts';
import { OPERATORS } from './operators.ts';

export const name = z.string().check(z.minLength(1), z.maxLength(1_024));
const operand = z.union([z.string(), z.number(), z.boolean()]);

export const filter = z.object({
  column: name,
  operator: z.enum(OPERATORS),
  value: z.optional(z.union([operand, z.array(operand)])),
});
const aggregation = z.object({
  groupBy: z._default(z.array(z.object({ column: name, timeBucket: z.optional(z.enum(BUCKETS)), timezone: z.optional(z.string()) })), []),
  functions: z._default(
    z.array(z.object({ column: name, function: z.enum(FUNCTIONS), alias: z.optional(z.string()), secondColumn: z.optional(name) })),
    [],
  ),
});

/** What is shown of a table, as the address says it. What cannot be read is left out. */
export const tableSearch = z.object({
  columns: z.catch(z.optional(z.array(name)), undefined),
  orderBy: z.catch(z.optional(name), undefined),
  orderDirection: z.catch(z.optional(z.enum(['ASC', 'DESC'])), undefined),
  filters: z.catch(z.optional(z.array(filter)), undefined),
  aggregation: z.catch(z.optional(aggregation), undefined),
  asOf: z.catch(z.optional(z.int().check(z.minimum(0))), undefined),
  /** Whether new rows are shown as they come. */
  live: z.catch(z.optional(z.boolean()), undefined),
  /** The row whose details are open. */
  row: z.catch(z.optional(z.string().check(z.maxLength(64))), undefined),
});

export type TableSearch = z.infer<typeof tableSearch>;
export type Filter = z.infer<typeof filter>;
