import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Row } from './queries.ts';

/** The rows that somebody chose, by their ids. */
export interface Selection {
  chosen: ReadonlySet<string>;
  /** Chooses the row at an index, or takes it out; `isRange` adds all from the row that was chosen before. */
  toggle: (at: number, isRange: boolean) => void;
  /** Adds all rows between two indexes, both included. */
  add: (from: number, to: number) => void;
  clear: () => void;
}

interface Chosen {
  question: string;
  ids: ReadonlySet<string>;
  last: string | null;
}

interface Shown {
  rows: readonly Row[];
  /** Index of the first of them among all. */
  begin: number;
  version: number | undefined;
}

/** Rows on either side of those that are held, whose ids stay known: as many as one annotation takes. */
const MOST_KNOWN = 10_000;

interface KnownIds {
  between: (from: number, to: number) => string[];
  /** Where a row is; null where that is not known. */
  indexOf: (id: string) => number | null;
}

/** Ids by index: of the rows that are held, and of rows near them that were held before. */
function useKnownIds({ rows, begin, version }: Shown, question: string): KnownIds {
  const known = useRef<{ of: string; ids: Map<number, string> }>({ of: '', ids: new Map() });
  const of = `${question} ${version}`;
  useEffect(() => {
    // in another version every row may stand elsewhere
    if (known.current.of !== of) known.current = { of, ids: new Map() };
    const { ids } = known.current;
    for (const [at, row] of rows.entries()) ids.set(begin + at, String(row['id']));
    if (ids.size > MOST_KNOWN + rows.length)
      for (const at of ids.keys()) if (at < begin - MOST_KNOWN || at > begin + rows.length + MOST_KNOWN) ids.delete(at);
  }, [rows, begin, of]);
  return useMemo(
    () => ({
      between: (from, to) => {
        const [least, most] = [Math.min(from, to), Math.max(from, to)];
        return [...known.current.ids].flatMap(([at, id]) => (at >= least && at <= most ? [id] : []));
      },
      indexOf: (id) => known.current.ids.entries().find(([, one]) => one === id)?.[0] ?? null,
    }),
    [],
  );
}

/** Keeps which rows of a question are chosen; another question begins with none. */
export function useSelection(shown: Shown, question: string): Selection {
  const [kept, setKept] = useState<Chosen>({ question, ids: new Set(), last: null });
  const now: Chosen = kept.question === question ? kept : { question, ids: new Set(), last: null };
  const { ids, last } = now;
  const known = useKnownIds(shown, question);
  const add = useCallback(
    (from: number, to: number) =>
      setKept({ question, ids: new Set([...ids, ...known.between(from, to)]), last: known.between(to, to)[0] ?? null }),
    [question, ids, known],
  );
  const toggle = useCallback(
    (at: number, isRange: boolean) => {
      const [id] = known.between(at, at);
      if (id === undefined) return;
      const from = isRange && last !== null ? known.indexOf(last) : null;
      if (from !== null) return add(from, at);
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      setKept({ question, ids: next, last: id });
    },
    [question, ids, last, known, add],
  );
  const clear = useCallback(() => setKept({ question, ids: new Set(), last: null }), [question]);
  return useMemo(() => ({ chosen: ids, toggle, add, clear }), [ids, toggle, add, clear]);
}
