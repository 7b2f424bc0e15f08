import type { Dater } from './cell.tsx';
import type { TableSearch } from './search.ts';

const SHORTER_THAN_A_DAY: readonly unknown[] = [undefined, 'minute', 'hour'];

/** Makes what names the days, weeks and longer that rows are grouped by, in a zone's calendar or else in UTC, as a chart does: by column. */
export function makeDaters(aggregation: TableSearch['aggregation']): ReadonlyMap<string, Dater> {
  const daters = new Map<string, Dater>();
  for (const { column, timeBucket, timezone } of aggregation?.groupBy ?? []) {
    if (SHORTER_THAN_A_DAY.includes(timeBucket)) continue;
    try {
      // the dates of Sweden are written as ISO 8601 writes them
      const dates = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone ?? 'UTC', dateStyle: 'short' });
      daters.set(`${column}_${timeBucket}`, (instant) => (instant.endsWith('Z') ? dates.format(new Date(instant)) : instant.slice(0, 10)));
    } catch {
      // the service says which zones there are
    }
  }
  return daters;
}
