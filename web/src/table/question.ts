import type { PageAsked } from '../../../clients/typescript/src/rows.ts';
import type { TableSearch } from './search.ts';

/** What is asked of the API for what the address shows: the one translation, for the grid and for every way to say the same. */
export function questionOf(tableName: string, search: TableSearch): Omit<PageAsked, 'page' | 'pageSize' | 'limit' | 'cursor'> {
  const { columns, orderBy, orderDirection, filters, aggregation, asOf } = search;
  return {
    tableName,
    ...(columns === undefined || aggregation !== undefined ? {} : { columns: JSON.stringify(columns) }),
    ...(orderBy === undefined ? {} : { orderBy, orderDirection: orderDirection ?? 'ASC' }),
    ...(filters === undefined || filters.length === 0 ? {} : { filters: JSON.stringify(filters) }),
    ...(aggregation === undefined ? {} : { aggregation: JSON.stringify(aggregation) }),
    ...(asOf === undefined ? {} : { asOf }),
  };
}
