/** The one table of role rules: which columns a chart of each type is drawn from. */
import type { Problem } from '../../errors.ts';
import type { ChartType, DataConfig, DataSource, SourceRole } from './visualizations.model.ts';

/** Kinds of columns. A role takes any of them unless its rule names some. */
export type Kind = 'numeric' | 'temporal' | 'categorical';

const NUMERIC = /^(TINYINT|SMALLINT|INT|BIGINT|LONG|FLOAT|DOUBLE|REAL|DECIMAL|NUMERIC)/;
const TEMPORAL = /^(DATE|TIMESTAMP)/;

/** Finds the kind that a column is drawn as, by the name of its type. */
export const findAxisKind = (typeName: string): Kind =>
  NUMERIC.test(typeName) ? 'numeric' : TEMPORAL.test(typeName) ? 'temporal' : 'categorical';

export interface RoleRule {
  required?: boolean;
  many?: boolean;
  kinds?: readonly Kind[];
}

type Rules = Partial<Record<SourceRole, RoleRule>>;

const numeric: readonly Kind[] = ['numeric'];
const ordered: readonly Kind[] = ['numeric', 'temporal'];
const any: RoleRule = {};
const needed: RoleRule = { required: true };
const neededNumber: RoleRule = { required: true, kinds: numeric };
const neededOrdered: RoleRule = { required: true, kinds: ordered };
const series: RoleRule = { required: true, many: true };
const numbers: RoleRule = { required: true, many: true, kinds: numeric };
const category: RoleRule = { kinds: ['categorical'] };

const distribution: Rules = { x: any, y: numbers, color: category, facet: category };
const plane: Rules = { x: neededOrdered, y: neededOrdered };

export const ROLES: Record<ChartType, Rules> = {
  line: { x: any, y: series, color: any, facet: category },
  scatter: { x: any, y: series, color: any, facet: category },
  bar: { x: any, y: numbers, color: category, facet: category },
  area: { x: any, y: series, color: category, facet: category },
  'dot-plot': { x: needed, y: numbers, color: category },
  lollipop: { x: needed, y: neededNumber },
  bubble: { x: needed, y: series, size: neededNumber, color: any, facet: category },
  pie: { labels: needed, values: { kinds: numeric } },
  histogram: { y: { required: true, many: true, kinds: ordered }, color: category, facet: category },
  'box-plot': distribution,
  'violin-plot': distribution,
  'density-plot': { y: numbers, color: category, facet: category },
  'ridge-plot': { y: neededNumber, color: { required: true, kinds: ['categorical'] } },
  'histogram-2d': plane,
  'density-plot-2d': plane,
  polar: { x: neededNumber, y: numbers, color: any },
  radar: { y: numbers, color: any },
  ternary: { x: neededNumber, y: neededNumber, z: neededNumber, color: any },
  carpet: { x: neededNumber, y: neededNumber, z: neededNumber },
  contour: { x: neededOrdered, y: neededOrdered, z: neededNumber },
  heatmap: { x: needed, y: needed, z: neededNumber },
  alluvial: { groupBy: { required: true, many: true, kinds: ['categorical'] }, value: { kinds: numeric } },
  'wind-rose': { x: neededNumber, y: neededNumber },
  'parallel-coordinates': { y: numbers, color: any },
  'correlation-matrix': { y: numbers },
  'spc-control-chart': { x: { kinds: ordered }, y: neededNumber },
};

/** Types that show error bars. */
export const WITH_ERRORS: ReadonlySet<ChartType> = new Set(['line', 'scatter', 'bar', 'area']);

/** Types that draw sums of rows, which those of a sample are not. */
export const SUMMED: ReadonlySet<ChartType> = new Set(['bar', 'pie', 'alluvial']);

const MEASURES: ReadonlySet<SourceRole> = new Set(['y', 'z', 'size', 'values', 'value']);
/** Types whose y is a place, as their x is. */
const PLACED: ReadonlySet<ChartType> = new Set(['heatmap', 'contour', 'carpet']);

/** Whether columns of a role are measured, and so aggregated where the chart aggregates. Every other role gives a place or a group. */
export const isMeasure = (type: ChartType, role: SourceRole): boolean => MEASURES.has(role) && !(role === 'y' && PLACED.has(type));

const isNamed = ({ tableName, columnName }: DataSource) => tableName !== '' && columnName !== '';

/** Whether the table and every column of a config are named. A draft still has gaps. */
const isNamedThroughout = ({ tableName, dataSources }: DataConfig): boolean => tableName !== '' && dataSources.every(isNamed);

/**
 * Lists what is wrong with the roles of a config without gaps: a role that the chart type does not have, a single role given twice, a second table. A missing
 * role is no mistake; it makes the chart a draft. See `listMissingRoles`.
 */
export function checkRoles(type: ChartType, config: DataConfig, root = '/dataConfig'): Problem[] {
  if (!isNamedThroughout(config)) return [];
  const rules = ROLES[type];
  const counted = new Map<SourceRole, number>();
  return config.dataSources.flatMap(({ role, tableName }, index): Problem[] => {
    const path = `${root}/dataSources/${index}`;
    const rule = rules[role];
    if (!rule) return [{ path: `${path}/role`, message: `a ${type} chart takes only ${Object.keys(rules).join(', ')}` }];
    const before = counted.get(role) ?? 0;
    counted.set(role, before + 1);
    if (before > 0 && rule.many !== true) return [{ path: `${path}/role`, message: `a ${type} chart takes one column as ${role}` }];
    return tableName === config.tableName ? [] : [{ path: `${path}/tableName`, message: 'is not the table of the chart' }];
  });
}

/** Lists the roles that a chart needs before it can be drawn, and that no named column has. */
export function listMissingRoles(type: ChartType, { dataSources }: DataConfig): SourceRole[] {
  const played = new Set(dataSources.filter(isNamed).map(({ role }) => role));
  return (Object.entries(ROLES[type]) as [SourceRole, RoleRule][])
    .filter(([role, { required }]) => required === true && !played.has(role))
    .map(([role]) => role);
}
