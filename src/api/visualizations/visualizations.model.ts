import type { ChartAxis, TraceType } from '../../charts/plotted.model.ts';
import type { Prose, SpacedName } from '../sharing/sharing.model.ts';

export const CHART_FAMILIES = ['basic', 'scientific', '3d', 'statistical'] as const;
/** Shelf that a chart type stands on. Charts of the family `3d` have no picture. */
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
/** How a chart is drawn. */
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
/** Part that a column plays in a chart. */
export type SourceRole = (typeof SOURCE_ROLES)[number];

/** A column and the part that it plays in a chart. */
export interface DataSource {
  /** Table of the column, which is that of the chart. May be empty in a draft. */
  tableName: string;
  /** Column as a read names it. May be empty in a draft. */
  columnName: string;
  /** Part that the column plays; which ones there are depends on the chart type. */
  role: SourceRole;
  /** Name of the series in the legend, at most 255 characters; the alias or column when absent. */
  seriesName?: string;
  /** Title of the column, at most 255 characters; its name when absent. */
  alias?: string;
  /** How this series is drawn when a chart mixes kinds; as the chart type says when absent. */
  traceType?: TraceType;
  /** Axis that the series belongs to; `primary` by default. */
  axis?: ChartAxis;
  /**
   * Aggregate of the series: sum, avg, count, min, max, std, var, sem (standard error of the mean), ci95 (half of its 95 % confidence interval, by
   * Student's t), median, p05, p95, first, last, cumsum, corr or count_distinct. When absent, as `aggregation` says; where a chart aggregates and
   * nothing says, avg.
   */
  aggregate?: string;
  /**
   * Half lengths of the error bars: a column of the rows. Of an aggregated series: the alias of one of `aggregation.functions`, or their name without
   * one (`phi2_sem`). No error bars when absent.
   */
  errorColumn?: string;
  /**
   * Error bars of an aggregated series, from its own rows: their standard deviation, the standard error of their mean, or half its 95 % interval.
   * None when absent.
   */
  error?: ChartError;
}

export const CHART_ERRORS = ['std', 'sem', 'ci95'] as const;
/** What error bars show: the standard deviation, the standard error of the mean, or half its 95 % confidence interval. */
export type ChartError = (typeof CHART_ERRORS)[number];

/** What rows are narrowed by. */
export interface DataFilter {
  /** Column as a read names it. */
  column: string;
  /** One of the operators of a data read. */
  operator: string;
  /** A value, an array of values, or null, as in a data read; absent for operators that take none. */
  value?: unknown;
}

/** A column that rows are grouped by. */
export interface ChartGroupKey {
  /** Column by whose values rows are grouped. */
  column: string;
  /** Cuts times to the beginning of their minute, hour, day, week, month, quarter or year. */
  timeBucket?: string;
  /** IANA name of the zone whose calendar is followed, such as `Europe/Berlin`; UTC when absent. */
  timezone?: string;
}

/** What is computed of each group. */
export interface ChartFunction {
  /** Column that is computed from; `*` counts rows. */
  column: string;
  /** One of the functions of a data read, such as `avg`. */
  function: string;
  /** Name of the result, 1 to 255 characters; `<column>_<function>` when absent. */
  alias?: string;
  /** The other column, for `corr`. */
  secondColumn?: string;
}

/** How rows are grouped and summed up. */
export interface DataAggregation {
  /** Keys of the groups, at most 20; one group of all rows when absent. */
  groupBy?: ChartGroupKey[];
  /** What is computed of each group, at most 100. */
  functions?: ChartFunction[];
}

/** What a stored chart is drawn from. */
export interface StoredDataConfig {
  /** `raw_data`, `device`, a macro's id, or an upload table's id or name. May be empty in a draft. */
  tableName: string;
  /** Columns and the parts that they play, 1 to 50. Empty where a chart was stored in an older shape. */
  dataSources: DataSource[];
  /** What the rows are narrowed by, at most 100, all of which must hold; every row when absent. */
  filters?: DataFilter[];
  /** How rows are grouped and summed up; plain rows when absent. */
  aggregation?: DataAggregation;
}

/** What a chart is to be drawn from. */
export type DataConfig = StoredDataConfig;

/** A chart of an experiment's data. */
export interface Visualization {
  /** Names the chart. */
  id: string;
  /** Title of the chart. */
  name: string;
  /** What the chart is to show; null without one. */
  description: string | null;
  /** Experiment whose data it shows. */
  experimentId: string;
  /** Shelf that the chart type stands on. */
  chartFamily: ChartFamily;
  /** How it is drawn. */
  chartType: ChartType;
  /** How it looks: what pictures honour, and under `client` a client's own settings. */
  config: Record<string, unknown>;
  /** What it is drawn from. */
  dataConfig: StoredDataConfig;
  /** Person who made it, by their UUID. A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string;
  /** First and last name of who made it; the pseudonym where `createdBy` is one. */
  createdByName: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What a chart is made with. */
export interface NewVisualization {
  /** Title of the chart, 1 to 255 characters; not blank. */
  name: SpacedName;
  /** What the chart is to show, at most 10,000 characters. */
  description?: Prose;
  /** Shelf that the chart type stands on. A chart of the family `3d` has no picture. */
  chartFamily: ChartFamily;
  /** How it is drawn, which decides the roles that columns may play. */
  chartType: ChartType;
  /** How it looks; at most 100,000 characters as JSON. `image` says which members it honours. */
  config?: Record<string, unknown>;
  /** What it is drawn from; at most 100,000 characters as JSON. */
  dataConfig: DataConfig;
}

/** Changes; fields that are left out keep their value. */
export interface VisualizationPatch {
  /** Title of the chart, 1 to 255 characters; not blank. */
  name?: SpacedName;
  /** What the chart is to show, at most 10,000 characters; null takes it away. */
  description?: Prose;
  /** Shelf that the chart type stands on. A chart of the family `3d` has no picture. */
  chartFamily?: ChartFamily;
  /** How it is drawn, which decides the roles that columns may play. */
  chartType?: ChartType;
  /** Replaces how it looks; at most 100,000 characters as JSON. */
  config?: Record<string, unknown>;
  /** Replaces what it is drawn from; at most 100,000 characters as JSON. */
  dataConfig?: DataConfig;
}
