import { infiniteQueryOptions, keepPreviousData, queryOptions, type InfiniteData } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { readPage, type ReadPage, type RowPage } from '../../../clients/typescript/src/rows.ts';
import { api, queryClient } from '../api.ts';
import { questionOf } from './question.ts';
import type { TableSearch } from './search.ts';

export const PAGE_ROWS = 100;
/** Pages that are held at most, around the rows in sight: all of them are read anew when new rows are shown. */
const MOST_PAGES = 5;
const PLAN = 'application/vnd.fieldlake.plan+json';

export interface TableShown {
  experimentId: string;
  table: string;
  search: TableSearch;
}

export type Row = RowPage['data']['rows'][number];
export type DataColumn = RowPage['data']['columns'][number];

/** Where a page of rows is. */
interface RowsPlace {
  /** Index of its first row. */
  first: number;
  /** Number of rows up to the farthest that was read, held or not. */
  reached: number;
  /** Leads to the page within the version that gave it. Without a cursor the page is asked for by its number. */
  cursor?: string;
}
export interface RowsRead extends ReadPage, Pick<RowsPlace, 'first' | 'reached'> {}

const START: RowsPlace = { first: 0, reached: 0 };
const reachedBy = (pages: readonly RowsRead[]) => Math.max(0, ...pages.map(({ reached }) => reached));

async function readRows({ experimentId, table, search }: TableShown, place: RowsPlace, signal?: AbortSignal): Promise<RowsRead> {
  const { first, cursor } = place;
  const at = cursor === undefined ? (first === 0 ? {} : { page: first / PAGE_ROWS + 1 }) : { cursor };
  const asked = { ...questionOf(table, search), ...(search.aggregation === undefined ? { pageSize: PAGE_ROWS, ...at } : {}) };
  const read = await readPage(api, experimentId, asked, signal === undefined ? {} : { signal });
  return { ...read, first, reached: Math.max(place.reached, first + read.page.data.rows.length) };
}

/** What every query of an experiment's rows begins with. */
export const heldRowsKey = (experimentId: string): readonly string[] => ['rows', experimentId];

/** The rows of a question, page after page by cursor. Only pages next to each other are held. An aggregate is one page. */
export const rowsQuery = (shown: TableShown) => {
  const queryKey = [...heldRowsKey(shown.experimentId), questionOf(shown.table, shown.search)];
  return infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal, client }) => {
      const [begun] = client.getQueryData<InfiniteData<RowsRead, RowsPlace>>(queryKey)?.pageParams ?? [];
      // the first page that is held is read anew from the newest version, to which no cursor of an earlier one leads
      return readRows(shown, begun === pageParam ? { ...pageParam, cursor: undefined } : pageParam, signal);
    },
    initialPageParam: START,
    getNextPageParam: ({ next, first, page }, pages): RowsPlace | null =>
      next === null ? null : { first: first + page.data.rows.length, reached: reachedBy(pages), cursor: next.cursor },
    getPreviousPageParam: ({ previous, first }, pages): RowsPlace | null =>
      previous === null ? null : { first: Math.max(0, first - PAGE_ROWS), reached: reachedBy(pages), cursor: previous.cursor },
    maxPages: MOST_PAGES,
    // each page moves by one when the first is dropped, so that comparing them cell by cell would find nothing that is the same
    structuralSharing: false,
    // the grid stays while the next question is asked
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
};

/** Reads the page that has a row, and replaces the held pages with it. Pages between are not read. */
export async function jumpTo(shown: TableShown, row: number): Promise<void> {
  const { queryKey } = rowsQuery(shown);
  await queryClient.cancelQueries({ queryKey });
  const held = queryClient.getQueryData<InfiniteData<RowsRead, RowsPlace>>(queryKey);
  const place = { first: row - (row % PAGE_ROWS), reached: reachedBy(held?.pages ?? []) };
  const read = await readRows(shown, place);
  // a reading that began meanwhile would bring back the pages that are replaced
  await queryClient.cancelQueries({ queryKey });
  const isOld = queryClient.getQueryState(queryKey)?.isInvalidated === true;
  queryClient.setQueryData(queryKey, { pages: [read], pageParams: [place] });
  if (isOld) await queryClient.invalidateQueries({ queryKey });
}

/** Some values of a text column, to choose from. */
export const valuesQuery = (experimentId: string, table: string, column: string) =>
  queryOptions({
    queryKey: [...heldRowsKey(experimentId), 'values', table, column],
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
