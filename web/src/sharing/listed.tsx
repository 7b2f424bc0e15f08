import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { LibraryItem } from '../library/head.tsx';
import { macroQuery } from '../macros/queries.ts';
import { protocolQuery } from '../protocols/queries.ts';
import { workbookQuery } from '../workbooks/queries.ts';
import { SharingOfThing } from './thing.tsx';

const macroRoute = getRouteApi('/guarded/library/macros/$macro/sharing');
const protocolRoute = getRouteApi('/guarded/library/protocols/$protocol/sharing');
const workbookRoute = getRouteApi('/guarded/library/workbooks/$workbook/sharing');

/** Who may do what with a macro, and why. */
export function MacroSharingPage() {
  const { macro: id } = macroRoute.useParams();
  return (
    <LibraryItem kind="macros" asked={useQuery(macroQuery(id))}>
      {({ macro: { name, visibility, capabilities } }) => (
        <SharingOfThing
          shared={{ resourceType: 'macro', id }}
          link={
            <Link to="/library/macros/$macro" params={{ macro: id }}>
              {name}
            </Link>
          }
          visibility={visibility}
          may={capabilities}
        />
      )}
    </LibraryItem>
  );
}

/** Who may do what with a protocol, and why. */
export function ProtocolSharingPage() {
  const { protocol: id } = protocolRoute.useParams();
  return (
    <LibraryItem kind="protocols" asked={useQuery(protocolQuery(id))}>
      {({ protocol: { name, visibility, capabilities } }) => (
        <SharingOfThing
          shared={{ resourceType: 'protocol', id }}
          link={
            <Link to="/library/protocols/$protocol" params={{ protocol: id }}>
              {name}
            </Link>
          }
          visibility={visibility}
          may={capabilities}
        />
      )}
    </LibraryItem>
  );
}

/** Who may do what with a workbook, and why. */
export function WorkbookSharingPage() {
  const { workbook: id } = workbookRoute.useParams();
  return (
    <LibraryItem kind="workbooks" asked={useQuery(workbookQuery(id))}>
      {({ workbook: { name, visibility, capabilities } }) => (
        <SharingOfThing
          shared={{ resourceType: 'workbook', id }}
          link={
            <Link to="/library/workbooks/$workbook" params={{ workbook: id }}>
              {name}
            </Link>
          }
          visibility={visibility}
          may={capabilities}
        />
      )}
    </LibraryItem>
  );
}
