import { isAdjusted, type AxisName } from '../../../src/charts/adjusted.ts';
import { isMeasure, ROLES, WITH_ERRORS, type RoleRule } from '../../../src/api/visualizations/roles.ts';
import type { ChartType, SourceRole } from '../../../src/api/visualizations/visualizations.model.ts';
import type { BodyOf } from '../../../clients/typescript/src/types.ts';
import type { ChartSearch, Look, Source } from './search.ts';

type NewChart = BodyOf<'/api/v1/experiments/{id}/visualizations', 'post'>;
export type Family = 'basic' | 'statistical' | 'scientific';

/** The family of each type, in the order in which types are offered. */
export const FAMILY: Readonly<Record<ChartType, Family>> = {
  line: 'basic',
  scatter: 'basic',
  bar: 'basic',
  area: 'basic',
  pie: 'basic',
  'dot-plot': 'basic',
  lollipop: 'basic',
  bubble: 'basic',
  'box-plot': 'statistical',
  'violin-plot': 'statistical',
  histogram: 'statistical',
  'density-plot': 'statistical',
  'ridge-plot': 'statistical',
  'histogram-2d': 'statistical',
  'density-plot-2d': 'statistical',
  'correlation-matrix': 'statistical',
  'spc-control-chart': 'statistical',
  heatmap: 'scientific',
  contour: 'scientific',
  carpet: 'scientific',
  ternary: 'scientific',
  polar: 'scientific',
  'wind-rose': 'scientific',
  radar: 'scientific',
  'parallel-coordinates': 'scientific',
  alluvial: 'scientific',
};

/** The roles of a type and what each takes. */
export const rolesOf = (type: ChartType): [SourceRole, RoleRule][] => Object.entries(ROLES[type]) as [SourceRole, RoleRule][];

/** Types that show how the rows themselves are spread. Summed up, the rows would leave nothing to see. */
const OF_ROWS: ReadonlySet<ChartType> = new Set([
  'box-plot',
  'violin-plot',
  'histogram',
  'density-plot',
  'ridge-plot',
  'histogram-2d',
  'density-plot-2d',
  'correlation-matrix',
  'spc-control-chart',
]);
export const sumsUp = (type: ChartType): boolean => !OF_ROWS.has(type);

/** The columns that a type draws. Those of other types stay in the address for when one of them is chosen again. */
export function drawnSources(type: ChartType, sources: readonly Source[]): Source[] {
  const played = rolesOf(type).flatMap(([role, { many }]) => sources.filter((one) => one.role === role).slice(0, many === true ? 50 : 1));
  return played.map(({ error, aggregate, ...source }) => ({
    ...source,
    ...(aggregate !== undefined && sumsUp(type) && (source.role !== 'y' || isMeasure(type, 'y')) ? { aggregate } : {}),
    ...(error !== undefined && WITH_ERRORS.has(type) ? { error } : {}),
  }));
}

/** What a type still needs before it can be drawn. */
export const missingOf = (type: ChartType, sources: readonly Source[]): SourceRole[] =>
  rolesOf(type)
    .filter(([role, { required }]) => required === true && !sources.some((one) => one.role === role))
    .map(([role]) => role);

/** The look without a logarithm where the type draws none. */
function drawnLook(type: ChartType, look: Look): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...look };
  for (const name of ['x', 'y'] as const satisfies AxisName[]) {
    const { scale, ...rest } = look[name] ?? {};
    if (scale !== undefined && !isAdjusted(type, 'log', name)) shown[name] = rest;
  }
  return shown;
}

/** A chart as the API takes it. */
export function chartBody(
  table: string,
  { type = 'line', sources = [], filters, aggregation, look = {} }: ChartSearch,
  name: string,
): NewChart {
  const drawn = drawnSources(type, sources);
  // a bucket of a column that is not drawn any more would only add a group
  const groupBy = aggregation?.groupBy?.filter(({ column }) => drawn.some(({ columnName }) => columnName === column)) ?? [];
  const isSummed = drawn.some(({ aggregate }) => aggregate !== undefined);
  const { groupBy: _all, ...computed } = aggregation ?? {};
  const summed = { ...computed, ...(isSummed && groupBy.length > 0 ? { groupBy } : {}) };
  return {
    name,
    chartFamily: FAMILY[type],
    chartType: type,
    config: drawnLook(type, look),
    dataConfig: {
      tableName: table,
      dataSources: drawn.map((source) => ({ ...source, tableName: table })),
      ...(filters === undefined || filters.length === 0 ? {} : { filters }),
      ...(Object.keys(summed).length === 0 ? {} : { aggregation: summed }),
    },
  } as NewChart;
}
