import type { Name, Prose } from '../sharing/sharing.model.ts';

/** The grid that widgets are laid out on. */
export interface DashboardLayout {
  /**
   * Columns of the grid, 1 to 24.
   * @isInt
   * @minimum 1
   * @maximum 24
   */
  columns: number;
  /**
   * Height of a row in pixels, 20 to 400.
   * @isInt
   * @minimum 20
   * @maximum 400
   */
  rowHeight: number;
  /**
   * Room between widgets in pixels, 0 to 64.
   * @isInt
   * @minimum 0
   * @maximum 64
   */
  gap: number;
}

/** The grid that widgets are laid out on; what is left out is as usual. */
export interface DashboardLayoutInput {
  /** Columns of the grid, 1 to 24; 12 unless stated. */
  columns?: number;
  /** Height of a row in pixels, 20 to 400; 80 unless stated. */
  rowHeight?: number;
  /** Room between widgets in pixels, 0 to 64; 16 unless stated. */
  gap?: number;
}

/** Where a widget stands, in cells of the grid. */
export interface WidgetLayout {
  /** Column of the grid at which it begins, from 0. */
  col: number;
  /** Row of the grid at which it begins, from 0. */
  row: number;
  /** Columns that it covers, 1 to 24. */
  colSpan: number;
  /** Rows that it covers, 1 to 48. */
  rowSpan: number;
}

/** What a widget shows. */
export type WidgetType = 'visualization' | 'richText' | 'table' | 'filter';

/** Something on a dashboard. */
export interface DashboardWidget {
  /** A UUID, unique in the dashboard. */
  id: string;
  /** Where the widget stands, in cells of the grid. */
  layout: WidgetLayout;
  /** What the widget shows, which decides what its `config` holds. */
  type: WidgetType;
  /**
   * By type. visualization: `visualizationId`, `showTitle`, `showDescription`, `title`, `description`. richText: `html` (cleaned of scripts).
   * table: `tableName`, `columns`, `pageSize` (10, 25, 50 or 100), `filters`, and the four of a title and description.
   * filter: `tableName`, `column`, `operator`, `defaultValue`, and the same four.
   */
  config: Record<string, unknown>;
}

/** Widgets on a grid. */
export interface Dashboard {
  /** Names the dashboard. */
  id: string;
  /** Experiment whose data it shows. */
  experimentId: string;
  /** Title of the dashboard. */
  name: string;
  /** What the dashboard is for; null without one. */
  description: string | null;
  layout: DashboardLayout;
  /** At most 200. */
  widgets: DashboardWidget[];
  /** Person who made it, by their UUID. A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string;
  /** First and last name of who made it; the pseudonym where `createdBy` is one. */
  createdByName: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What a dashboard is made with. */
export interface NewDashboard {
  /** Title of the dashboard, 1 to 255 characters. */
  name: Name;
  /** What the dashboard is for, at most 10,000 characters. */
  description?: Prose;
  /** The grid that widgets are laid out on; the usual one when absent. */
  layout?: DashboardLayoutInput;
  /**
   * At most 200, of 1,000,000 characters together as JSON and 20,000 tags in their texts; none when absent.
   * @maxItems 200
   */
  widgets?: DashboardWidget[];
}

/** Changes; fields that are left out keep their value. */
export interface DashboardPatch {
  /** Title of the dashboard, 1 to 255 characters. */
  name?: Name;
  /** What the dashboard is for, at most 10,000 characters; null takes it away. */
  description?: Prose;
  /** Replaces the whole layout; what is missing gets its usual value. */
  layout?: DashboardLayoutInput;
  /**
   * Replaces all widgets; at most 200, of 1,000,000 characters together as JSON and 20,000 tags in their texts.
   * @maxItems 200
   */
  widgets?: DashboardWidget[];
}
