import { queryOptions } from '@tanstack/react-query';
import { findAxisKind } from '../../../src/api/visualizations/roles.ts';
import type { ChartType } from '../../../src/api/visualizations/visualizations.model.ts';
import { readPage } from '../../../clients/typescript/src/rows.ts';
import { api } from '../api.ts';
import type { Filter } from '../table/search.ts';
import type { Region, Source, Span } from './search.ts';

/** The most rows that can be annotated at once. */
export const MOST_ROWS = 10_000;

/** Types of chart in which each mark is a row, as long as nothing is summed up. */
const MARKS_ARE_ROWS: ReadonlySet<ChartType> = new Set(['scatter', 'bubble', 'line']);

/** A column along an edge of the chart. Times of all kinds are drawn by their milliseconds since 1970 in UTC. */
export interface Axis {
  column: string;
  of: 'numbers' | 'moments' | 'local times' | 'days';
}
const TIMES: Readonly<Record<string, Axis['of']>> = { DATE: 'days', TIMESTAMP_NTZ: 'local times' };

export interface Axes {
  x: Axis;
  y: Axis;
}

/** The axes of a chart whose regions are filters over its rows; null when a mark is more than a row, or an axis has no order. */
export function axesOf(type: ChartType, sources: readonly Source[], columns: readonly { name: string; type: string }[]): Axes | null {
  if (!MARKS_ARE_ROWS.has(type) || sources.some(({ aggregate, role }) => aggregate !== undefined || role === 'facet')) return null;
  const along = (role: 'x' | 'y'): Axis | null => {
    const [first, second] = sources.filter((source) => source.role === role);
    const found = columns.find(({ name }) => name === first?.columnName);
    if (found === undefined || second !== undefined) return null;
    const kind = findAxisKind(found.type);
    if (kind === 'temporal') return { column: found.name, of: TIMES[found.type] ?? 'moments' };
    return kind === 'numeric' ? { column: found.name, of: 'numbers' } : null;
  };
  const [x, y] = [along('x'), along('y')];
  return x === null || y === null ? null : { x, y };
}

const DAY = 86_400_000;
const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);

/** The ends of a region along an axis as the service takes them, both included. A day is drawn where it begins. */
export function endsOf({ of }: Axis, ends: Span): [from: string | number, to: string | number] {
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  if (of === 'numbers') return [from, to];
  if (of === 'days') return [dayOf(Math.ceil(from / DAY) * DAY), dayOf(Math.floor(to / DAY) * DAY)];
  const write = (moment: number) => new Date(moment).toISOString().replace(of === 'moments' ? '' : 'Z', '');
  return [write(from), write(to)];
}

/** A region as conditions on its two columns, both ends included. */
export const filtersOf = (axes: Axes, region: Region): Filter[] =>
  (['x', 'y'] as const).map((name) => {
    const { [name]: axis } = axes;
    return { column: axis.column, operator: 'between', value: endsOf(axis, region[name]) };
  });

/** How many rows a region holds, and the ids of as many of them as can be annotated at once. */
export const regionQuery = (experimentId: string, table: string, filters: readonly Filter[]) =>
  queryOptions({
    queryKey: ['rows', experimentId, 'region', table, filters],
    queryFn: async ({ signal }) => {
      const asked = { tableName: table, columns: JSON.stringify(['id']), filters: JSON.stringify(filters), limit: MOST_ROWS };
      const { page } = await readPage(api, experimentId, asked, { signal });
      return { total: page.totalRows, rowIds: page.data.rows.map((row) => String(row['id'])) };
    },
  });
