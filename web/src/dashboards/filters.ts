import type { TableListed } from '../experiments/queries.ts';
import { factsOf, joinValues, operandOf, splitValues } from '../table/operators.ts';
import type { Filter } from '../table/search.ts';
import { inOrder } from './arrange.ts';
import type { Widget, WidgetOf } from './queries.ts';
import type { TypedFilters } from './search.ts';

/** The table that is named by its identifier or by its name. */
export const tableOf = (tables: readonly TableListed[], named: string | undefined): TableListed | undefined =>
  tables.find(({ identifier, displayName }) => identifier === named || displayName === named);

const textsOf = (value: unknown): string[] => (value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(String));

/** What a filter holds now: what was typed, or what it begins with. */
export function typedOf({ id, config }: WidgetOf<'filter'>, typed: TypedFilters): string[] {
  const { takes } = factsOf(config.operator ?? 'equals');
  const begun = textsOf(config.defaultValue);
  return typed[id] ?? (takes === 'many' ? [joinValues(begun)] : begun);
}

/** The condition of a filter; null while nothing is chosen. */
export function filterOf(widget: WidgetOf<'filter'>, typed: TypedFilters, type: string): Filter | null {
  const { column, operator = 'equals' } = widget.config;
  if (column === undefined) return null;
  const { takes } = factsOf(operator);
  const [first = '', second = ''] = typedOf(widget, typed);
  if (takes === 'none') return first === 'on' ? { column, operator } : null;
  if (first.trim() === '' || (takes === 'two' && second.trim() === '')) return null;
  const operands = {
    one: operandOf(first, type),
    two: [operandOf(first, type), operandOf(second, type)],
    many: splitValues(first).map((part) => operandOf(part, type)),
  }[takes];
  return { column, operator, value: operands };
}

/** The conditions that a dashboard's filters put on a table. */
export const filtersOn = (widgets: readonly Widget[], tables: readonly TableListed[], typed: TypedFilters, table: TableListed): Filter[] =>
  inOrder(widgets).flatMap((widget) => {
    if (widget.type !== 'filter' || tableOf(tables, widget.config.tableName)?.identifier !== table.identifier) return [];
    const type = table.columns.find(({ name }) => name === widget.config.column)?.type ?? 'STRING';
    return filterOf(widget, typed, type) ?? [];
  });
