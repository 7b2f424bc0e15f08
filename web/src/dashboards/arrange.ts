import type { Widget } from './queries.ts';

/** Shares of a row that a part can take, and cells that it can be high. */
export const WIDTHS = { quarter: 1 / 4, third: 1 / 3, half: 1 / 2, twoThirds: 2 / 3, whole: 1 } as const;
export const HEIGHTS = { low: 2, medium: 4, tall: 6 } as const;

export type Width = keyof typeof WIDTHS;
export type Height = keyof typeof HEIGHTS;

/** How many columns of a grid a width takes. */
export const spanOf = (width: Width, columns: number): number => Math.max(1, Math.round(WIDTHS[width] * columns));

/** The named width of a span; undefined for a span between two widths. */
export const widthOf = (colSpan: number, columns: number): Width | undefined =>
  (Object.keys(WIDTHS) as Width[]).find((width) => spanOf(width, columns) === colSpan);

export const heightOf = (rowSpan: number): Height | undefined =>
  (Object.keys(HEIGHTS) as Height[]).find((height) => HEIGHTS[height] === rowSpan);

/** Parts in the order in which they are read: row by row, from the left. */
export const inOrder = (widgets: readonly Widget[]): Widget[] =>
  [...widgets].sort(({ layout: a }, { layout: b }) => a.row - b.row || a.col - b.col);

/** Places parts one after another; one that does not fit begins the next row. */
export function placeInOrder(widgets: readonly Widget[], columns: number): Widget[] {
  let [col, row, deepest] = [0, 0, 0];
  return widgets.map((widget) => {
    const colSpan = Math.min(widget.layout.colSpan, columns);
    if (col + colSpan > columns) [col, row, deepest] = [0, row + deepest, 0];
    const placed = { ...widget, layout: { ...widget.layout, col, row, colSpan } };
    col += colSpan;
    deepest = Math.max(deepest, widget.layout.rowSpan);
    return placed;
  });
}
