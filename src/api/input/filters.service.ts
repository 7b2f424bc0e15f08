import { z } from 'zod';
import {
  makeFilterShape as filterOf,
  FUNCTIONS,
  MAX_FILTERS,
  OPERATORS,
  storedOperand,
  makeValueShape,
  type Filter,
} from '../../lakehouse/ask/request.ts';

export const column = z.string().max(1_024);
export const filterOperator = z.enum(OPERATORS);
export const filterValue = makeValueShape(storedOperand);
export const aggregateFunction = z.enum(FUNCTIONS);

/** A filter as a chart or a widget keeps it: like a filter of a read, with values of JSON. */
export const filterShape: z.ZodType<Filter> = filterOf(storedOperand);
export const filtersShape = z.array(filterShape).max(MAX_FILTERS);
