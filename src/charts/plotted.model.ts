/** The values of a chart, ready to plot. */

/** How one series is drawn. */
export type TraceType = 'line' | 'bar' | 'scatter' | 'area';
/** Axis that a series belongs to. */
export type ChartAxis = 'primary' | 'secondary';
/** Whether values are numbers, times or categories. */
export type AxisKind = 'numeric' | 'temporal' | 'categorical';

/** What a channel shows. */
export interface PlottedAxis {
  /** What stands at the axis. */
  title: string;
  /** Column of the read that fills the channel. */
  column: string;
  /** Whether its values are numbers, times or categories. */
  kind: AxisKind;
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

export interface Plotted {
  axes: Record<string, PlottedAxis>;
  series: PlottedSeries[];
  /** How many series there are beyond those. */
  seriesLeftOut?: number;
}
