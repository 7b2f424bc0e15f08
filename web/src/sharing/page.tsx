import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PeopleSection } from '../experiments/people.tsx';
import { experimentQuery } from '../experiments/queries.ts';
import { words } from '../words.ts';
import { SharingPanels } from './panels.tsx';
import { AskPanel, RequestsPanel } from './waiting.tsx';

const route = getRouteApi('/guarded/experiments/$id/sharing');
const said = words.sharing;

/** Who may do what with an experiment, and why. Whoever may share it does so here. */
export function SharingPage() {
  const { id } = route.useParams();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const isOpen = experiment.status !== 'archived';
  return (
    <>
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <SharingPanels
        shared={{ resourceType: 'experiment', id }}
        may={capabilities}
        isOpen={isOpen}
        isPublic={experiment.visibility === 'public'}
      >
        {capabilities.canShare ? null : <PeopleSection id={id} canShare={false} />}
        {capabilities.canManage && isOpen ? <RequestsPanel id={id} /> : null}
        {!capabilities.canContribute && isOpen && experiment.visibility === 'public' ? <AskPanel id={id} /> : null}
      </SharingPanels>
    </>
  );
}
