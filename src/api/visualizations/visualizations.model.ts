export const CHART_FAMILIES = ['basic', 'scientific', '3d', 'statistical'] as const;
export type ChartFamily = (typeof CHART_FAMILIES)[number];

export const CHART_TYPES = [
  'line',
  'scatter',
  'bar',
  'pie',
  'area',
  'dot-plot',
  'bubble',
  'lollipop',
  'box-plot',
  'histogram',
  'violin-plot',
  'density-plot',
  'ridge-plot',
  'histogram-2d',
  'density-plot-2d',
  'spc-control-chart',
  'heatmap',
  'contour',
  'carpet',
  'ternary',
  'parallel-coordinates',
  'wind-rose',
  'radar',
  'polar',
  'correlation-matrix',
  'alluvial',
] as const;
export type ChartType = (typeof CHART_TYPES)[number];

export const SOURCE_ROLES = [
  'x',
  'y',
  'z',
  'color',
  'size',
  'labels',
  'values',
  'source',
  'target',
  'value',
  'lat',
  'lon',
  'groupBy',
  'facet',
] as const;
export type SourceRole = (typeof SOURCE_ROLES)[number];

export type TraceType = 'line' | 'bar' | 'scatter' | 'area';
export type ChartAxis = 'primary' | 'secondary';

/** A column and the part that it plays in a chart. */
export interface DataSource {
  /** May be empty in a draft. */
  tableName: string;
  /** May be empty in a draft. */
  columnName: string;
  role: SourceRole;
  /** Name of the series in the legend. */
  seriesName?: string;
  alias?: string;
  /** How this series is drawn when a chart mixes kinds. */
  traceType?: TraceType;
  axis?: ChartAxis;
  /** Aggregate of the series: sum, avg, count, min, max, std, var, sem (standard error of the mean), ci95 (half of its 95 % confidence interval, by Student's t), median, p05, p95, first, last, cumsum, corr or count_distinct. */
  aggregate?: string;
  /**
   * Half lengths of the error bars: a column of the rows. Of an aggregated series: the alias of one of `aggregation.functions`, or their name without one
   * (`phi2_sem`).
   */
  errorColumn?: string;
  /** Error bars of an aggregated series, from its own rows: their standard deviation, the standard error of their mean, or half its 95 % interval. */
  error?: ChartError;
}

export const CHART_ERRORS = ['std', 'sem', 'ci95'] as const;
export type ChartError = (typeof CHART_ERRORS)[number];

export interface ChartFilter {
  column: string;
  /** One of the operators of a data read. */
  operator: string;
  /** A value, or an array of values, as in a data read. */
  value?: unknown;
}

export interface ChartGroupKey {
  column: string;
  /** minute, hour, day, week, month, quarter or year. */
  timeBucket?: string;
  timezone?: string;
}

export interface ChartFunction {
  column: string;
  function: string;
  alias?: string;
  secondColumn?: string;
}

export interface ChartAggregation {
  groupBy?: ChartGroupKey[];
  functions?: ChartFunction[];
}

/** What a stored chart is drawn from. */
export interface StoredDataConfig {
  /** May be empty in a draft. */
  tableName: string;
  /** Empty where a chart was stored in an older shape. */
  dataSources: DataSource[];
  filters?: ChartFilter[];
  aggregation?: ChartAggregation;
}

/** What a chart is to be drawn from. */
export type DataConfig = StoredDataConfig;

/** A chart of an experiment's data. */
export interface Visualization {
  id: string;
  name: string;
  description: string | null;
  experimentId: string;
  chartFamily: ChartFamily;
  chartType: ChartType;
  /** How it looks: what pictures honour, and under `client` a client's own settings. */
  config: Record<string, unknown>;
  dataConfig: StoredDataConfig;
  /** A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string;
  createdByName: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewVisualization {
  /**
   * Not blank.
   * @maxLength 255
   * @pattern \S
   */
  name: string;
  /** @maxLength 10000 */
  description?: string | null;
  chartFamily: ChartFamily;
  chartType: ChartType;
  /** At most 100,000 characters as JSON. */
  config?: Record<string, unknown>;
  dataConfig: DataConfig;
}

export interface VisualizationPatch {
  /**
   * Not blank.
   * @maxLength 255
   * @pattern \S
   */
  name?: string;
  /** @maxLength 10000 */
  description?: string | null;
  chartFamily?: ChartFamily;
  chartType?: ChartType;
  /** At most 100,000 characters as JSON. */
  config?: Record<string, unknown>;
  dataConfig?: DataConfig;
}
