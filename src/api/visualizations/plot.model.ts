import type { ChartAxis, ChartType, TraceType } from './visualizations.model.ts';

/** Whether values are numbers, times or categories. */
export type PlotKind = 'numeric' | 'temporal' | 'categorical';

/** What a channel shows. */
export interface PlottedAxis {
  /** What stands at the axis. */
  title: string;
  /** Column of the read that fills the channel. */
  column: string;
  /** Whether its values are numbers, times or categories. */
  kind: PlotKind;
  /** The zone in whose calendar the instants are days, weeks, months, quarters or years; absent for any others. */
  timezone?: string;
}

/** How a long trace was thinned. */
export interface Downsampling {
  /** Keeps the points that shape the line; `largest-triangle-three-buckets`. */
  method: 'largest-triangle-three-buckets';
  /** Points before. */
  from: number;
  /** Points sent. */
  to: number;
}

/** One series: arrays of one length. */
export interface PlottedSeries {
  /** Name of the series in the legend. */
  name: string;
  /** The category of the colour column that this series is of; null without one. */
  color: string | null;
  /** The category of the facet column that this series is of; null without one. */
  facet: string | null;
  /** How the series is drawn when a chart mixes kinds; null when the chart type says it. */
  traceType: TraceType | null;
  /** Axis that the series belongs to. */
  axis: ChartAxis;
  /** By channel: x, y, z, size, color (a numeric colour), error, labels, values, groupBy0 and on, value. All arrays have one length. */
  points: Record<string, unknown[]>;
  /** How the series was thinned; null when it is whole. */
  downsampled: Downsampling | null;
}

/** The data of a visualization, ready to plot. */
export interface VisualizationData {
  /** Chart that was drawn. */
  visualizationId: string;
  /** How it is drawn. */
  chartType: ChartType;
  /** Table that was read. */
  tableName: string;
  /** Version of the table that was read. */
  version: string;
  /** What each channel shows, by channel; `y2` is a second y axis. */
  axes: Record<string, PlottedAxis>;
  /** At most 200. */
  series: PlottedSeries[];
  /** How many more series there are than the 200; absent when there are none. */
  seriesLeftOut?: number;
  /** Rows or groups that were read. */
  rows: number;
  /** Whether more rows or groups match than were read. */
  truncated: boolean;
  /** How many rows match, where those that were read are picked evenly from all of them; absent where all were read, or the first ones. */
  sampleOf?: number;
}
