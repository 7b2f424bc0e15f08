/** The grid that widgets are laid out on. */
export interface DashboardLayout {
  /**
   * Columns of the grid.
   * @isInt
   * @minimum 1
   * @maximum 24
   */
  columns: number;
  /**
   * Pixels.
   * @isInt
   * @minimum 20
   * @maximum 400
   */
  rowHeight: number;
  /**
   * Pixels.
   * @isInt
   * @minimum 0
   * @maximum 64
   */
  gap: number;
}

export interface DashboardLayoutInput {
  /** 12 unless stated. */
  columns?: number;
  /** 80 unless stated. */
  rowHeight?: number;
  /** 16 unless stated. */
  gap?: number;
}

/** Where a widget stands, in cells of the grid. */
export interface WidgetLayout {
  col: number;
  row: number;
  colSpan: number;
  rowSpan: number;
}

export type WidgetType = 'visualization' | 'richText' | 'table' | 'filter';

export interface DashboardWidget {
  /** A UUID, unique in the dashboard. */
  id: string;
  layout: WidgetLayout;
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
  id: string;
  experimentId: string;
  name: string;
  description: string | null;
  layout: DashboardLayout;
  widgets: DashboardWidget[];
  /** A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string;
  createdByName: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewDashboard {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  /** @maxLength 10000 */
  description?: string | null;
  layout?: DashboardLayoutInput;
  /** @maxItems 200 */
  widgets?: DashboardWidget[];
}

export interface DashboardPatch {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
  /** @maxLength 10000 */
  description?: string | null;
  /** Replaces the whole layout; what is missing gets its usual value. */
  layout?: DashboardLayoutInput;
  /**
   * Replaces all widgets.
   * @maxItems 200
   */
  widgets?: DashboardWidget[];
}
