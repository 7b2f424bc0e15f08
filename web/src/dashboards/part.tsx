import type { ReactNode } from 'react';
import type { TableListed } from '../experiments/queries.ts';
import type { Widget } from './queries.ts';
import type { TypedFilters } from './search.ts';

/** What every part of a dashboard is given of the whole. */
export interface BoardShown {
  /** The experiment. */
  id: string;
  tables: readonly TableListed[];
  widgets: readonly Widget[];
  typed: TypedFilters;
  /** Changes what is typed into a filter, from what is typed into all of them. */
  type: (id: string, next: (typed: TypedFilters) => string[]) => void;
}

export interface PartProps<Kind extends Widget> {
  widget: Kind;
  board: BoardShown;
}

interface Titled {
  title?: string | undefined;
  description?: string | undefined;
  showTitle?: boolean | undefined;
  showDescription?: boolean | undefined;
}

/** A part of a dashboard, with its title where that is to be shown. `fallback` names a part without a title. */
export function Framed({ config, fallback, children }: { config: Titled; fallback: string; children: ReactNode }) {
  const { title = '', description = '', showTitle = true, showDescription = true } = config;
  const name = title === '' ? fallback : title;
  return (
    <section className="panel part" aria-label={name} tabIndex={0}>
      {showTitle ? <h3>{name}</h3> : null}
      {showDescription && description !== '' ? <p className="small quiet">{description}</p> : null}
      {children}
    </section>
  );
}
