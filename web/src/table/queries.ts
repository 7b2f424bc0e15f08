import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { Place } from '../../../clients/typescript/src/paging.ts';
import { readPage, type RowPage } from '../../../clients/typescript/src/rows.ts';
import { api } from '../api.ts';
import { questionOf } from './question.ts';
import type { TableSearch } from './search.ts';

const PAGE_ROWS = 100;
const PLAN = 'application/vnd.fieldlake.plan+json';

export interface TableShown {
  experimentId: string;
  table: string;
  search: TableSearch;
}

export type Row = RowPage['data']['rows'][number];
export type DataColumn = RowPage['data']['columns'][number];

/** The rows of a question, page after page by cursor. An aggregate is one page. */
export const rowsQuery = ({ experimentId, table, search }: TableShown) => {
  const question = questionOf(table, search);
  return infiniteQueryOptions({
    queryKey: ['rows', experimentId, question],
    queryFn: async ({ pageParam, signal }) =>
      readPage(
        api,
        experimentId,
        { ...question, ...(search.aggregation === undefined ? { pageSize: PAGE_ROWS, ...pageParam } : {}) },
        { signal },
      ),
    initialPageParam: {} satisfies Place,
    getNextPageParam: ({ next }) => next,
    // the grid stays while the next question is asked
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
};

/** Some values of a text column, to choose from. */
export const valuesQuery = (experimentId: string, table: string, column: string) =>
  queryOptions({
    queryKey: ['values', experimentId, table, column],
    queryFn: async ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/experiments/{id}/data/distinct', {
          params: { path: { id: experimentId }, query: { tableName: table, column, limit: 50 } },
          signal,
        }),
      ),
    staleTime: 60_000,
  });

/** The statement that the service would run. */
export const planQuery = ({ experimentId, table, search }: TableShown) =>
  queryOptions({
    queryKey: ['plan', experimentId, questionOf(table, search)],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/api/v1/experiments/{id}/data', {
        params: { path: { id: experimentId }, query: questionOf(table, search) },
        headers: { accept: PLAN },
        signal,
      });
      // the document names this format beside the others that the operation answers
      return data as unknown as { statement: string; parameters: { type: string }[] };
    },
  });

/** One row with everything that is known of it. */
export const rowQuery = (experimentId: string, table: string, row: string) =>
  queryOptions({
    queryKey: ['row', experimentId, table, row],
    queryFn: async ({ signal }) => {
      const filters = JSON.stringify([{ column: 'id', operator: 'equals', value: row }]);
      const { page } = await readPage(api, experimentId, { tableName: table, filters, limit: 1 }, { signal });
      return { columns: page.data.columns, values: page.data.rows[0] ?? null };
    },
  });

export const lineageQuery = (experimentId: string, table: string, row: string) =>
  queryOptions({
    queryKey: ['lineage', experimentId, table, row],
    queryFn: async ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/experiments/{id}/data/rows/{row}/lineage', {
          params: { path: { id: experimentId, row }, query: { tableName: table } },
          signal,
        }),
      ),
  });
