import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { LibraryItem, type Asked } from '../library/head.tsx';
import { PAGES, type Kind } from '../library/kinds.ts';
import type { Shared } from '../library/queries.ts';
import { macroQuery } from '../macros/queries.ts';
import { protocolQuery } from '../protocols/queries.ts';
import { workbookQuery } from '../workbooks/queries.ts';
import { SharingOfThing } from './thing.tsx';

const macroRoute = getRouteApi('/guarded/library/macros/$macro/sharing');
const protocolRoute = getRouteApi('/guarded/library/protocols/$protocol/sharing');
const workbookRoute = getRouteApi('/guarded/library/workbooks/$workbook/sharing');

const TYPES = { macros: 'macro', protocols: 'protocol', workbooks: 'workbook' } as const satisfies Record<Kind, string>;

const ListedSharing = ({ kind, asked }: { kind: Kind; asked: Asked<Shared> }) => (
  <LibraryItem kind={kind} asked={asked}>
    {({ id, name, visibility, capabilities }) => (
      <SharingOfThing
        shared={{ resourceType: TYPES[kind], id }}
        link={
          <Link to={PAGES[kind]} params={{ macro: id, protocol: id, workbook: id }}>
            {name}
          </Link>
        }
        visibility={visibility}
        may={capabilities}
      />
    )}
  </LibraryItem>
);

/** Who may do what with a macro, and why. */
export const MacroSharingPage = () => (
  <ListedSharing kind="macros" asked={useQuery({ ...macroQuery(macroRoute.useParams().macro), select: ({ macro }) => macro })} />
);

/** Who may do what with a protocol, and why. */
export const ProtocolSharingPage = () => (
  <ListedSharing
    kind="protocols"
    asked={useQuery({ ...protocolQuery(protocolRoute.useParams().protocol), select: ({ protocol }) => protocol })}
  />
);

/** Who may do what with a workbook, and why. */
export const WorkbookSharingPage = () => (
  <ListedSharing
    kind="workbooks"
    asked={useQuery({ ...workbookQuery(workbookRoute.useParams().workbook), select: ({ workbook }) => workbook })}
  />
);
