import { useCallback, useState } from 'react';
import type { Row } from './queries.ts';

/** The rows that somebody chose, by their ids. */
export interface Selection {
  chosen: ReadonlySet<string>;
  /** Chooses the row at an index, or takes it out; `isRange` adds all from the one before. */
  toggle: (at: number, isRange: boolean) => void;
  /** Adds all rows between two indexes, both included. */
  add: (from: number, to: number) => void;
  clear: () => void;
}

interface Chosen {
  question: string;
  ids: ReadonlySet<string>;
  last: number | null;
}

const idsBetween = (rows: readonly Row[], from: number, to: number): string[] =>
  rows.slice(Math.min(from, to), Math.max(from, to) + 1).map((row) => String(row['id']));

/** Keeps which rows of a question are chosen; another question begins with none. */
export function useSelection(rows: readonly Row[], question: string): Selection {
  const [kept, setKept] = useState<Chosen>({ question, ids: new Set(), last: null });
  const now: Chosen = kept.question === question ? kept : { question, ids: new Set(), last: null };
  const { ids, last } = now;
  const add = useCallback(
    (from: number, to: number) => setKept({ question, ids: new Set([...ids, ...idsBetween(rows, from, to)]), last: to }),
    [question, ids, rows],
  );
  const toggle = useCallback(
    (at: number, isRange: boolean) => {
      const [id] = idsBetween(rows, at, at);
      if (id === undefined) return;
      if (isRange && last !== null) return add(last, at);
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      setKept({ question, ids: next, last: at });
    },
    [question, ids, last, rows, add],
  );
  const clear = useCallback(() => setKept({ question, ids: new Set(), last: null }), [question]);
  return { chosen: ids, toggle, add, clear };
}
