import { z } from 'zod';
import { aggregationShape } from '../../lakehouse/ask/request.ts';
import { aggregateFunction, column, filtersShape } from '../input/filters.service.ts';
import { CHART_ERRORS, SOURCE_ROLES, type DataConfig } from './visualizations.model.ts';

const label = z.string().max(255).optional();

const source = z.strictObject({
  tableName: z.string().max(255),
  columnName: column,
  role: z.enum(SOURCE_ROLES),
  seriesName: label,
  alias: label,
  traceType: z.enum(['line', 'bar', 'scatter', 'area']).optional(),
  axis: z.enum(['primary', 'secondary']).optional(),
  aggregate: aggregateFunction.optional(),
  errorColumn: column.optional(),
  error: z.enum(CHART_ERRORS).optional(),
});

/** A list holds a hundred charts, which would not fit the memory with the 9 MB of a whole body each. */
const isShort = (value: unknown) => JSON.stringify(value).length <= 100_000;
const LONG = { error: 'has more than 100,000 characters as JSON' };

/** Shape and bounds of a data config; unknown keys are refused. The published API document is made from this shape. */
export const dataConfigShape = z
  .strictObject({
    tableName: z.string().max(255),
    dataSources: z.array(source).min(1).max(50),
    filters: filtersShape.optional(),
    aggregation: aggregationShape.optional(),
  })
  .refine(isShort, LONG) as unknown as z.ZodType<DataConfig>;

/** A client's own settings of a chart: any object, bounded. */
export const configShape = z.record(z.string().max(255), z.unknown()).refine(isShort, LONG);
