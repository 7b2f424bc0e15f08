import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { agoText } from '../shell/format.ts';
import { NotYet } from '../ui/not-yet.tsx';
import { words } from '../words.ts';
import type { Kind } from './kinds.ts';
import type { Shared } from './queries.ts';
import './library.css';

function SharingLink({ kind, id }: { kind: Kind; id: string }) {
  const says = words.sharing.title;
  switch (kind) {
    case 'macros':
      return (
        <Link to="/library/macros/$macro/sharing" params={{ macro: id }}>
          {says}
        </Link>
      );
    case 'protocols':
      return (
        <Link to="/library/protocols/$protocol/sharing" params={{ protocol: id }}>
          {says}
        </Link>
      );
    case 'workbooks':
      return (
        <Link to="/library/workbooks/$workbook/sharing" params={{ workbook: id }}>
          {says}
        </Link>
      );
  }
}

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
        <SharingLink kind={kind} id={id} />
      </p>
    </header>
  );
}

interface LoadedProps<T> {
  kind: Kind;
  asked: { data: T | undefined; error: unknown; refetch: () => unknown };
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
