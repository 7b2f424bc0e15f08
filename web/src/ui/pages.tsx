import type { ReactNode } from 'react';
import { words } from '../words.ts';

const said = words.pages;

interface PagesProps {
  page: number;
  pageSize: number;
  /** Entries of all pages. */
  total: number;
  /** Makes a link to another page. */
  link: (page: number, text: string) => ReactNode;
}

/** Leads through the pages of a list. A page behind the last, as when entries were taken away meanwhile, leads back to the last. */
export function Pages({ page, pageSize, total, link }: PagesProps) {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (last === 1 && page === 1) return null;
  return (
    <nav className="inline" aria-label={said.label}>
      {page > last ? <p className="quiet">{said.beyond}</p> : null}
      {page > 1 ? link(Math.min(page - 1, last), said.previous) : null}
      {page < last ? link(page + 1, said.next) : null}
    </nav>
  );
}
