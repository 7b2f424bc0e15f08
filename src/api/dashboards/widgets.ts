import { setImmediate } from 'node:timers/promises';
import sanitizeHtml from 'sanitize-html';
import { z } from 'zod';
import { column, filterOperator, filtersShape, filterValue } from '../input/filters.service.ts';
import { printBounded, readShape, refuseBody } from '../input/input.service.ts';
import type { DashboardLayout, DashboardWidget } from './dashboards.model.ts';

const whole = (least: number, most: number) => z.number().int().min(least).max(most);

export const layoutShape: z.ZodType<DashboardLayout> = z.object({
  columns: whole(1, 24).default(12),
  rowHeight: whole(20, 400).default(80),
  gap: whole(0, 64).default(16),
});

/** Cleans HTML that somebody else wrote, so that a page may show it: no scripts, no frames, no handlers, links only to the web and to mail. */
const cleaned = (html: string): string =>
  sanitizeHtml(html, {
    allowedTags: [...sanitizeHtml.defaults.allowedTags, 'h1', 'h2', 'img', 'del', 'ins', 'u', 's'],
    allowedAttributes: {
      a: ['href', 'title', 'target', 'rel'],
      img: ['src', 'alt', 'title', 'width', 'height'],
      '*': ['style', 'class', 'align', 'colspan', 'rowspan'],
    },
    allowedStyles: {
      '*': { color: [/^[#a-z0-9(),.% ]+$/i], 'background-color': [/^[#a-z0-9(),.% ]+$/i], 'text-align': [/^(left|right|center|justify)$/] },
    },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowedSchemesByTag: { img: ['http', 'https', 'data'] },
  });

const text = z.string().max(10_000).optional();
const titled = {
  title: text.describe('Title above the widget.'),
  description: text.describe('Sentences below the title.'),
  showTitle: z.boolean().default(true).describe('Whether the title is shown; true by default.'),
  showDescription: z.boolean().default(true).describe('Whether the description is shown; true by default.'),
};
const tableName = z.string().max(255).optional().describe("`raw_data`, `device`, a macro's id, or an upload table's id or name.");

const LONGEST_TEXT = 200_000;

const placed = {
  id: z.guid(),
  layout: z.object({ col: whole(0, 10_000), row: whole(0, 100_000), colSpan: whole(1, 24), rowSpan: whole(1, 48) }),
};

/** A widget, by type. The published API document is made from this shape. */
export const widgetShape = z.discriminatedUnion('type', [
  z.object({
    ...placed,
    type: z.literal('visualization'),
    config: z.object({
      visualizationId: z.guid().optional().describe('Chart of this experiment; an empty place without one.'),
      ...titled,
      showDescription: z.boolean().default(false).describe('Whether the description is shown; false by default.'),
    }),
  }),
  z.object({
    ...placed,
    type: z.literal('richText'),
    config: z.object({
      html: z.string().max(LONGEST_TEXT).default('').describe('Text as HTML; scripts, frames and handlers are taken out.'),
    }),
  }),
  z.object({
    ...placed,
    type: z.literal('table'),
    config: z.object({
      tableName,
      columns: z.array(column.min(1)).max(1_000).optional().describe('Columns that are shown; every column when absent.'),
      pageSize: z
        .union([z.literal(10), z.literal(25), z.literal(50), z.literal(100)], { error: 'must be 10, 25, 50 or 100' })
        .default(25)
        .describe('Rows that are shown at once; 25 by default.'),
      filters: filtersShape.optional().describe('What the rows are narrowed by, as in a read.'),
      ...titled,
    }),
  }),
  z.object({
    ...placed,
    type: z.literal('filter'),
    config: z.object({
      tableName,
      column: column.optional().describe('Column that the dashboard is filtered by.'),
      operator: filterOperator.optional().describe('How its values are compared with what is chosen.'),
      defaultValue: filterValue.optional().describe('What is chosen to begin with.'),
      ...titled,
    }),
  }),
]);

/** Shape and bounds of a dashboard's widgets, with their defaults. */
const widgetsShape: z.ZodType<DashboardWidget[]> = z
  .array(widgetShape)
  .max(200)
  .superRefine((widgets, context) => {
    const seen = new Set<string>();
    widgets.forEach(({ id }, index) => {
      if (seen.has(id.toLowerCase())) context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is the id of an earlier widget' });
      seen.add(id.toLowerCase());
    });
  });

const MOST_CHARACTERS = 1_000_000;
/** The cleaner takes time by the square of how many tags nest: 0.2 s for so many, 3 s for what one text could hold. */
const MOST_TAGS = 20_000;

const htmlOf = ({ type, config }: DashboardWidget): string => (type === 'richText' ? (config['html'] as string) : '');

/** Reads the widgets of a body and cleans their texts, each in its own turn of the event loop. Errors: invalid input. */
export async function readWidgets(given: unknown): Promise<DashboardWidget[]> {
  const widgets = readShape(widgetsShape, given, '/widgets');
  printBounded(widgets, '/widgets', MOST_CHARACTERS);
  const tags = widgets.reduce((count, widget) => count + htmlOf(widget).split('<').length - 1, 0);
  if (tags > MOST_TAGS)
    throw refuseBody([{ path: '/widgets', message: `hold ${tags} tags in their texts; at most ${MOST_TAGS} are cleaned` }]);
  for (const [index, widget] of widgets.entries()) {
    if (widget.type !== 'richText') continue;
    const html = cleaned(htmlOf(widget));
    // characters that HTML has words for are longer now
    if (html.length > LONGEST_TEXT)
      throw refuseBody([{ path: `/widgets/${index}/config/html`, message: `has ${html.length} characters once it is cleaned` }]);
    widget.config = { html };
    await setImmediate();
  }
  printBounded(widgets, '/widgets', MOST_CHARACTERS);
  return widgets;
}

/** Lists the charts that widgets show, with the place of each. */
export const listVisualizationUses = (widgets: readonly DashboardWidget[]): { id: string; path: string }[] =>
  widgets.flatMap(({ type, config }, index) => {
    const id = type === 'visualization' ? config['visualizationId'] : undefined;
    return typeof id === 'string' ? [{ id: id.toLowerCase(), path: `/widgets/${index}/config/visualizationId` }] : [];
  });
