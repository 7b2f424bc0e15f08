import { z } from 'zod/mini';
import { CHART_ERRORS, CHART_TYPES, SOURCE_ROLES, type ChartType } from '../../../src/api/visualizations/visualizations.model.ts';
import { BUCKETS, FUNCTIONS } from '../table/aggregates.ts';
import { filter, name } from '../table/search.ts';
import type { ChartListed } from './queries.ts';

/** A column and its role. Members that only other programs set are kept. */
const source = z.looseObject({
  role: z.enum(SOURCE_ROLES),
  columnName: name,
  aggregate: z.optional(z.enum(FUNCTIONS)),
  error: z.optional(z.enum(CHART_ERRORS)),
});
const aggregation = z.looseObject({
  groupBy: z.optional(z.array(z.looseObject({ column: name, timeBucket: z.optional(z.enum(BUCKETS)) }))),
});
const axis = z.looseObject({ title: z.optional(z.string()), scale: z.optional(z.enum(['linear', 'log'])) });
const look = z.looseObject({
  title: z.optional(z.string()),
  theme: z.optional(z.enum(['light', 'dark'])),
  x: z.optional(axis),
  y: z.optional(axis),
});

// moments are milliseconds since 1970, within the range of `Date`
const end = z.number().check(z.minimum(-8.64e15), z.maximum(8.64e15));
const span = z.tuple([end, end]);
/** A part of the plot by its least and greatest values; moments as milliseconds. */
const region = z.object({ x: span, y: span });

/** A chart as the address says it. What cannot be read is left out. */
export const chartSearch = z.object({
  type: z.catch(z.optional(z.enum(CHART_TYPES)), undefined),
  /** The type that an address names where there is none of that name. */
  unknownType: z.catch(z.optional(z.string().check(z.maxLength(64))), undefined),
  sources: z.catch(z.optional(z.array(source).check(z.maxLength(50))), undefined),
  filters: z.catch(z.optional(z.array(filter)), undefined),
  aggregation: z.catch(z.optional(aggregation), undefined),
  look: z.catch(z.optional(look), undefined),
  region: z.catch(z.optional(region), undefined),
  /** Version of the table that is drawn; the newest one when absent. */
  asOf: z.catch(z.optional(z.int().check(z.minimum(0))), undefined),
  /** The stored chart that this one was read from. */
  saved: z.catch(z.optional(z.uuid()), undefined),
});

export type ChartSearch = z.infer<typeof chartSearch>;

/** Reads an address, and keeps the name of a type that there is none of, so that the page can tell. */
export function readChartSearch(address: Record<string, unknown>): ChartSearch {
  const read = chartSearch.parse(address);
  const { type } = address;
  return read.type === undefined && typeof type === 'string' ? { ...read, unknownType: type.slice(0, 64) } : read;
}

/** The address of a stored chart. */
export function searchOf({ id, chartType, config, dataConfig }: ChartListed): ChartSearch {
  const { dataSources, filters, aggregation: grouped } = dataConfig;
  const sources = dataSources.map(({ tableName: _table, ...stored }) => stored);
  return chartSearch.parse({ type: chartType, sources, filters, aggregation: grouped, look: config, saved: id });
}

/** What is drawn for an address, which need not name a type. */
export type ChartShown = ChartSearch & { type: ChartType };
/** Says what changes of a chart, by what it is at that moment. */
export type Decide = (now: ChartShown) => Partial<ChartSearch>;
export type Source = z.infer<typeof source>;
export type Span = z.infer<typeof span>;
export type Region = z.infer<typeof region>;
export type Look = z.infer<typeof look>;
