import type { TableListed } from '../experiments/queries.ts';
import { factsOf, findMisfit, joinValues, operandOf, splitValues, type Misfit } from '../table/operators.ts';
import type { Filter } from '../table/search.ts';
import { inOrder } from './arrange.ts';
import type { ChartListed } from '../charts/queries.ts';
import type { Widget, WidgetOf } from './queries.ts';
import type { TypedFilters } from './search.ts';

/** The table that is named by its identifier or by its name. */
export const tableOf = (tables: readonly TableListed[], named: string | undefined): TableListed | undefined =>
  tables.find(({ identifier, displayName }) => identifier === named || displayName === named);

/** The tables whose rows the charts and tables of a dashboard show. */
export const tablesShown = (
  widgets: readonly Widget[],
  tables: readonly TableListed[],
  charts: readonly ChartListed[] = [],
): TableListed[] =>
  widgets.flatMap((widget) => {
    if (widget.type === 'table') return tableOf(tables, widget.config.tableName) ?? [];
    if (widget.type !== 'visualization') return [];
    const chart = charts.find(({ id }) => id === widget.config.visualizationId);
    return tableOf(tables, chart?.dataConfig.tableName) ?? [];
  });

const textsOf = (value: unknown): string[] => (value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(String));

/** What a filter holds now: what was typed, or what it begins with. */
export function typedOf({ id, config }: WidgetOf<'filter'>, typed: TypedFilters): string[] {
  const { takes } = factsOf(config.operator ?? 'equals');
  const begun = textsOf(config.defaultValue);
  return typed[id] ?? (takes === 'many' ? [joinValues(begun)] : begun);
}

/** The texts of a filter's values; none while it is not filled in. */
function valuesOf(widget: WidgetOf<'filter'>, typed: TypedFilters): string[] {
  const { takes } = factsOf(widget.config.operator ?? 'equals');
  const [first = '', second = ''] = typedOf(widget, typed);
  if (takes === 'none' || first.trim() === '' || (takes === 'two' && second.trim() === '')) return [];
  return { one: [first], two: [first, second], many: splitValues(first) }[takes];
}

/** The text of a filter that is no number, day or time where its column's type needs one. */
export const misfitOf = (widget: WidgetOf<'filter'>, typed: TypedFilters, type: string): Misfit | undefined =>
  findMisfit(valuesOf(widget, typed), type);

/** The condition of a filter; null while nothing is chosen, and while what is written does not fit its column. */
export function filterOf(widget: WidgetOf<'filter'>, typed: TypedFilters, type: string): Filter | null {
  const { column, operator = 'equals' } = widget.config;
  if (column === undefined) return null;
  const { takes } = factsOf(operator);
  if (takes === 'none') return typedOf(widget, typed)[0] === 'on' ? { column, operator } : null;
  const texts = valuesOf(widget, typed);
  const [first] = texts;
  if (first === undefined || findMisfit(texts, type) !== undefined) return null;
  const operands = texts.map((text) => operandOf(text, type));
  return { column, operator, value: takes === 'one' ? operandOf(first, type) : operands };
}

/** The conditions that a dashboard's filters put on a table. */
export const filtersOn = (widgets: readonly Widget[], tables: readonly TableListed[], typed: TypedFilters, table: TableListed): Filter[] =>
  inOrder(widgets).flatMap((widget) => {
    if (widget.type !== 'filter' || tableOf(tables, widget.config.tableName)?.identifier !== table.identifier) return [];
    const type = table.columns.find(({ name }) => name === widget.config.column)?.type ?? 'STRING';
    return filterOf(widget, typed, type) ?? [];
  });
