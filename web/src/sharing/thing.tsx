import type { ReactNode } from 'react';
import { words } from '../words.ts';
import { SharingPanels } from './panels.tsx';
import type { Shared } from './queries.ts';

interface SharingOfThingProps {
  shared: Shared;
  /** Its name, as a link to its own page. */
  link: ReactNode;
  visibility: 'public' | 'private';
  /** What the caller may do with it; nothing when the service does not say. */
  may: { canShare: boolean; canLeave: boolean; canContribute: boolean } | undefined;
}

const NOTHING = { canShare: false, canLeave: false, canContribute: false };

/** The content of the sharing page of a thing that has one page of its own. */
export function SharingOfThing({ shared, link, visibility, may = NOTHING }: SharingOfThingProps) {
  return (
    <>
      <title>{`${words.sharing.title} · ${words.name}`}</title>
      <header className="page-head">
        <h1 className="serial">{link}</h1>
        <p className="quiet">{words.sharing.lead}</p>
      </header>
      <SharingPanels shared={shared} may={may} isPublic={visibility === 'public'} />
    </>
  );
}
