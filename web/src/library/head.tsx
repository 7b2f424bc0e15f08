import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { agoText } from '../shell/format.ts';
import { NotYet } from '../ui/not-yet.tsx';
import { words } from '../words.ts';
import { PAGES, type Kind } from './kinds.ts';
import type { Shared } from './queries.ts';
import './library.css';

const ToKind = ({ kind }: { kind: Kind }) => (
  <p className="small">
    <Link to="/library/$kind" params={{ kind }}>
      {words.library.kinds[kind]}
    </Link>
  </p>
);

/** The head of the page of one thing of the library. */
export function LibraryHead({ kind, item, trait }: { kind: Kind; item: Shared; trait: string }) {
  const { id, name, organizationName, createdByName, updatedAt, visibility } = item;
  return (
    <header className="page-head">
      <title>{`${name} · ${words.name}`}</title>
      <ToKind kind={kind} />
      <h1 className="library-name">{name}</h1>
      <p className="small quiet facts">
        <span className="tag">{trait}</span>
        <span>{organizationName ?? words.home.personal}</span>
        <span>{words.library.facts(createdByName, agoText(updatedAt))}</span>
        <span className={`tag ${visibility === 'public' ? 'good' : ''}`}>{words.experiment.visibility[visibility]}</span>
        <Link to={`${PAGES[kind]}/sharing` as const} params={{ macro: id, protocol: id, workbook: id }}>
          {words.sharing.title}
        </Link>
      </p>
    </header>
  );
}

/** Something that was asked for. */
export interface Asked<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

interface LoadedProps<T> {
  kind: Kind;
  asked: Asked<T>;
  children: (data: T) => ReactNode;
}

/** The page of one thing of the library. Until the thing is there, the page says that it is waited for, or why it is not there. */
export function LibraryItem<T>({ kind, asked: { data, error, refetch }, children }: LoadedProps<T>) {
  if (data !== undefined) return <div className="page library-page">{children(data)}</div>;
  return (
    <div className="page">
      <h1 className="hidden-visually">{words.library.kinds[kind]}</h1>
      <ToKind kind={kind} />
      <NotYet error={error} refetch={refetch} />
    </div>
  );
}
