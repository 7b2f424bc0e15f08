import type { ChartAxis, ChartType, TraceType } from './visualizations.model.ts';

export type PlotKind = 'numeric' | 'temporal' | 'categorical';

export interface PlottedAxis {
  title: string;
  /** Column of the read that fills the channel. */
  column: string;
  kind: PlotKind;
}

/** How a long trace was thinned. */
export interface Downsampling {
  method: 'largest-triangle-three-buckets';
  /** Points before. */
  from: number;
  /** Points sent. */
  to: number;
}

/** One series: arrays of one length. */
export interface PlottedSeries {
  name: string;
  /** The category of the colour column that this series is of. */
  color: string | null;
  /** The category of the facet column that this series is of. */
  facet: string | null;
  traceType: TraceType | null;
  axis: ChartAxis;
  /** By channel: x, y, z, size, color (a numeric colour), error, labels, values, groupBy0 and on, value. */
  points: Record<string, unknown[]>;
  downsampled: Downsampling | null;
}

/** The data of a visualization, ready to plot. */
export interface VisualizationData {
  visualizationId: string;
  chartType: ChartType;
  tableName: string;
  /** Version of the table that was read. */
  version: string;
  /** By channel. */
  axes: Record<string, PlottedAxis>;
  series: PlottedSeries[];
  /** Rows or groups that were read. */
  rows: number;
  /** Whether more rows or groups match than were read. */
  truncated: boolean;
}
