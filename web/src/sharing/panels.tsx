import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from '../api.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { words } from '../words.ts';
import { SharePanel } from './add.tsx';
import { PeoplePanel } from './people.tsx';
import type { Shared } from './queries.ts';
import { InvitationsPanel } from './waiting.tsx';
import { leave } from './writes.ts';
import './sharing.css';

const said = words.sharing;

interface SharingPanelsProps {
  shared: Shared;
  /** What the caller may do with it. */
  may: { canShare: boolean; canLeave: boolean; canContribute: boolean };
  /** False while nothing can be changed. */
  isOpen?: boolean;
  isPublic: boolean;
  /** What else stands beside who has access. */
  children?: ReactNode;
}

/** What the caller may do, and why, for callers who do not see what others may do. */
function OwnPanel({ shared, canContribute, isGranted }: { shared: Shared; canContribute: boolean; isGranted: boolean }) {
  const may = shared.resourceType === 'experiment' && canContribute ? said.roles.viewer.experiment : said.roles.viewer.other;
  return (
    <section className="panel" aria-labelledby="own">
      <h2 id="own">{said.own.title}</h2>
      <p>{isGranted ? said.own.granted(may) : said.own.otherwise(may)}</p>
      <p className="small quiet">{said.own.hidden}</p>
    </section>
  );
}

/** Who may do what with a thing, and all that changes it. */
export function SharingPanels({ shared, may, isOpen = true, isPublic, children = null }: SharingPanelsProps) {
  const navigate = useNavigate();
  return (
    <div className="sharing">
      <div className="stack">
        {may.canShare ? (
          <PeoplePanel shared={shared} mayShare={isOpen} isPublic={isPublic} />
        ) : (
          <OwnPanel shared={shared} canContribute={may.canContribute} isGranted={may.canLeave} />
        )}
        {may.canLeave ? (
          <div>
            <AskFirst
              action={said.leave}
              question={said.leaveAsk}
              consequence={said.leaveText}
              perform={async () => {
                await leave(shared);
                await navigate({ to: '/' });
                await queryClient.invalidateQueries();
                sayDone(said.left);
              }}
            />
          </div>
        ) : null}
      </div>
      <div className="stack">
        {may.canShare && isOpen ? (
          <>
            <SharePanel shared={shared} />
            {shared.resourceType === 'device_group' ? null : <InvitationsPanel shared={shared} />}
          </>
        ) : null}
        {children}
      </div>
    </div>
  );
}
