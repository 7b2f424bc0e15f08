import type { ReactNode } from 'react';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';

interface SectionProps<T> {
  id: string;
  title: string;
  /** What can be done here, beside the title. */
  action?: ReactNode;
  /** What can be done whatever is listed, above the list. */
  form?: ReactNode;
  asked: { data: T | undefined; error: unknown; refetch: () => unknown };
  /** What is said where there is nothing; undefined where there is something. */
  empty: (data: T) => ReactNode;
  children: (data: T) => ReactNode;
}

/** A part of a page with a query of its own: it waits, fails and is empty by itself. */
export function Section<T>({ id, title, asked, empty, action = null, form = null, children }: SectionProps<T>) {
  const { data, error, refetch } = asked;
  const nothing = data === undefined ? undefined : empty(data);
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {action}
      </header>
      {form}
      {data === undefined ? (
        error === null ? (
          <p className="quiet" data-awaited>
            {words.waiting}
          </p>
        ) : (
          <Problem error={error} retry={() => void refetch()} />
        )
      ) : nothing === undefined ? (
        children(data)
      ) : (
        <p className="quiet">{nothing}</p>
      )}
    </section>
  );
}
