import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { jumpTo, PAGE_ROWS, rowsQuery, type DataColumn, type Row, type TableShown } from './queries.ts';
import type { Sight } from './sight.ts';

/** The next page is asked for when the rows in sight come this near to either end of those that are held. */
const AHEAD = 40;

/** The rows of a question that are held, and what is known of the others. */
export interface HeldRows {
  rows: readonly Row[];
  /** Index of the first of them among all. */
  begin: number;
  /** Number of rows up to the farthest that was read. Those that are not held are read again when they come into sight. */
  count: number;
  /** Rows that match. */
  total: number;
  columns: readonly DataColumn[];
  /** The version of the rows; undefined before the first answer. */
  version: number | undefined;
  error: unknown;
  retry: () => void;
  isLoading: boolean;
  /** Whether the rows are those of the question before. */
  isStale: boolean;
}

const NONE: readonly never[] = [];

/** Holds the rows around those in sight. */
export function useRows(shown: TableShown, sight: Sight): HeldRows {
  const { data, error, refetch, isPending, isFetching, isPlaceholderData, ...query } = useInfiniteQuery(rowsQuery(shown));
  const { hasNextPage, hasPreviousPage, fetchNextPage, fetchPreviousPage, isFetchingNextPage, isFetchingPreviousPage } = query;
  const { mutate: jump, reset, isPending: isJumping, error: notReached } = useMutation({ mutationFn: (row: number) => jumpTo(shown, row) });
  const pages = data?.pages ?? NONE;
  const rows = useMemo(() => (data?.pages ?? NONE).flatMap(({ page }) => page.data.rows), [data]);
  const [{ first: begin, page, version } = { first: 0, page: undefined, version: undefined }] = pages;
  const end = begin + rows.length;
  const total = page?.totalRows ?? 0;
  const count = Math.min(total, Math.max(end, ...pages.map(({ reached }) => reached)));
  const isWaiting = data === undefined || isPlaceholderData || isFetching || isJumping || error !== null || notReached !== null;
  const wanted = useSyncExternalStore(sight.follow, () => {
    const { first, last } = sight.get();
    if (isWaiting || count === 0) return null;
    if (rows.length === 0 ? begin > 0 : last < begin - PAGE_ROWS || first > end + PAGE_ROWS) return 'far';
    if (first < begin + AHEAD && hasPreviousPage) return 'previous';
    return last >= end - AHEAD && hasNextPage ? 'next' : null;
  });
  useEffect(() => {
    if (wanted === 'far') jump(Math.min(sight.get().first, count - 1));
    else if (wanted === 'previous') void fetchPreviousPage();
    else if (wanted === 'next') void fetchNextPage();
  }, [wanted, sight, count, jump, fetchPreviousPage, fetchNextPage]);
  return {
    rows,
    begin,
    count,
    total,
    columns: page?.data.columns ?? NONE,
    version,
    error: error ?? notReached,
    retry: () => {
      reset();
      if (error !== null) void refetch();
    },
    isLoading: isPending || isFetchingNextPage || isFetchingPreviousPage || isJumping,
    isStale: isPlaceholderData,
  };
}
