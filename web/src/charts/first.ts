import { findAxisKind, type Kind } from '../../../src/api/visualizations/roles.ts';
import { isGiven, orderByMeaning } from '../experiments/columns.ts';
import type { TableSearch } from '../table/search.ts';
import type { ChartSearch, Source } from './search.ts';

/** Names of columns that say where a row was measured. */
const LATITUDE = /(^|_)lat(itude)?(_|$)/i;
const LONGITUDE = /(^|_)(lon|lng|long|longitude)(_|$)/i;

/** The chart that a table is first shown as: its aggregate, means over time, its values where they were measured, one number against another, or how often values occur. */
export function firstChart(
  columns: readonly { name: string; type: string }[],
  { filters, aggregation }: Pick<TableSearch, 'filters' | 'aggregation'>,
): ChartSearch {
  const kept = filters === undefined ? {} : { filters };
  const [computed] = aggregation?.functions ?? [];
  if (aggregation !== undefined && computed !== undefined) {
    const roles = ['x', 'color', 'facet'] as const;
    const buckets = aggregation.groupBy.filter(({ timeBucket }) => timeBucket !== undefined);
    // means of weeks in one bar would be a sum of them
    const isOverTime = buckets.length > 0 && aggregation.groupBy.length > 1;
    const groups = isOverTime ? [...new Set([...buckets, ...aggregation.groupBy])] : aggregation.groupBy;
    const keys = groups.flatMap(({ column }, index): Source[] =>
      roles[index] === undefined ? [] : [{ role: roles[index], columnName: column }],
    );
    const y: Source = { role: 'y', columnName: computed.column, aggregate: computed.function };
    const more = {
      ...(buckets.length === 0 ? {} : { groupBy: buckets }),
      // the second column of a correlation is no source of its own
      ...(computed.secondColumn === undefined ? {} : { functions: [computed] }),
    };
    const type = isOverTime ? 'line' : 'bar';
    return { type, sources: [...keys, y], ...kept, ...(Object.keys(more).length === 0 ? {} : { aggregation: more }) };
  }
  const own = orderByMeaning(columns.filter(({ name }) => !isGiven(name)));
  const ofKind = (kind: Kind) => own.filter(({ type }) => findAxisKind(type) === kind).map(({ name }) => name);
  const [time] = ofKind('temporal');
  const numbers = ofKind('numeric');
  const [latitude, longitude] = [LATITUDE, LONGITUDE].map((pattern) => numbers.find((name) => pattern.test(name)));
  const hasPlaces = latitude !== undefined && longitude !== undefined;
  const all = hasPlaces ? numbers.filter((name) => name !== latitude && name !== longitude) : numbers;
  const [first, second] = all;
  if (hasPlaces && (time === undefined || first === undefined))
    return {
      type: 'scatter',
      sources: [
        { role: 'x', columnName: longitude },
        { role: 'y', columnName: latitude },
        ...(first === undefined ? [] : [{ role: 'color', columnName: first } as const]),
      ],
      ...kept,
    };
  if (first === undefined) {
    const [category] = ofKind('categorical');
    return { type: 'pie', sources: category === undefined ? [] : [{ role: 'labels', columnName: category }], ...kept };
  }
  if (time !== undefined)
    return {
      type: 'line',
      sources: [
        { role: 'x', columnName: time },
        { role: 'y', columnName: first, aggregate: 'avg', error: 'sem' },
      ],
      aggregation: { groupBy: [{ column: time, timeBucket: 'day' }] },
      ...kept,
    };
  if (second === undefined) return { type: 'histogram', sources: [{ role: 'y', columnName: first }], ...kept };
  return {
    type: 'scatter',
    sources: [
      { role: 'x', columnName: first },
      { role: 'y', columnName: second },
    ],
    ...kept,
  };
}
