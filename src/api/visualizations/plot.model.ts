import type { PlottedAxis, PlottedSeries } from '../../charts/plotted.model.ts';
import type { ChartType } from './visualizations.model.ts';

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
