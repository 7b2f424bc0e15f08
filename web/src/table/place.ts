import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';
import type { Row } from './queries.ts';

interface Kept {
  rows: readonly Row[];
  /** Index of the first of them among all. */
  begin: number;
  /** Index of the first row in sight. */
  first: number;
  rowHeight: number;
  scroller: RefObject<HTMLElement | null>;
  /** Called with the number of rows by which the rows that were there have moved down. */
  onMoved: (rows: number) => void;
}

/** Keeps the rows in sight where they are when others come before them. Whoever is at the very top sees the new rows. */
export function useKeptPlace({ rows, begin, first, rowHeight, scroller, onMoved }: Kept): void {
  const anchor = useRef<{ id: unknown; at: number }>(undefined);
  useLayoutEffect(() => {
    const [held, element] = [anchor.current, scroller.current];
    if (held?.id === undefined || element === null || element.scrollTop === 0 || rows[held.at - begin]?.['id'] === held.id) return;
    const found = rows.findIndex((row) => row['id'] === held.id);
    if (found === -1) return;
    const at = begin + found;
    element.scrollTop += (at - held.at) * rowHeight;
    onMoved(at - held.at);
  }, [rows, begin, rowHeight, scroller, onMoved]);
  useEffect(() => {
    anchor.current = { id: rows[first - begin]?.['id'], at: first };
  }, [rows, begin, first]);
}
