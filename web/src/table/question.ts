import type { PageAsked } from '../../../clients/typescript/src/rows.ts';
import type { TableSearch } from './search.ts';

/** Turns what the address shows into what the API is asked. The grid and every snippet use this one translation. */
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
