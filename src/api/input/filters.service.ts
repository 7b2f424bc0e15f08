import { z } from 'zod';
import { BUCKETS } from '../../lakehouse/plan.ts';
import { FUNCTIONS, MAX_FILTERS, MAX_VALUES, OPERATORS, type Aggregation, type Filter } from '../../lakehouse/request.ts';

export const column = z.string().max(1_024);
const operand = z.union([z.string().max(65_536), z.number(), z.boolean()], { error: 'must be text, a number or true or false' });

export const filterOperator = z.enum(OPERATORS);
export const filterValue = z.union([operand, z.array(operand).max(MAX_VALUES), z.null()], {
  error: `must be one value or an array of at most ${MAX_VALUES} values`,
});
export const aggregateFunction = z.enum(FUNCTIONS);

/** A filter as a chart or a widget keeps it: as in a read, strict about unknown keys. */
export const filterShape: z.ZodType<Filter> = z.strictObject({
  column: column.min(1),
  operator: filterOperator,
  value: filterValue.optional(),
});
export const filtersShape = z.array(filterShape).max(MAX_FILTERS);

/** An aggregation as a chart keeps it. */
export const aggregationShape: z.ZodType<Aggregation> = z.strictObject({
  groupBy: z
    .array(
      z.strictObject({ column: column.min(1), timeBucket: z.enum(BUCKETS).optional(), timezone: z.string().min(1).max(64).optional() }),
    )
    .max(20)
    .default([]),
  functions: z
    .array(
      z.strictObject({
        column: column.min(1),
        function: aggregateFunction,
        alias: z.string().min(1).max(255).optional(),
        secondColumn: column.min(1).optional(),
      }),
    )
    .max(100)
    .default([]),
});
