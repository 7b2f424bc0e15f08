import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { nameRole } from '../sharing/people.tsx';
import { collaboratorsQuery, type Collaborator } from '../sharing/queries.ts';
import { Section } from '../ui/section.tsx';
import { words } from '../words.ts';
import { contributorsQuery } from './queries.ts';

const said = words.experiment;

interface Person {
  key: string;
  name: string;
  role: string;
}

function personOf(collaborator: Collaborator): Person {
  switch (collaborator.kind) {
    case 'owner':
      return { key: `owner ${collaborator.granteeId}`, name: collaborator.grantee.displayName ?? said.someone, role: said.owner };
    case 'orgAdmins':
      return { key: 'admins', name: said.admins(collaborator.adminCount, collaborator.organizationName ?? ''), role: '' };
    case 'orgMembers':
      return { key: 'members', name: said.members(collaborator.memberCount, collaborator.organizationName ?? ''), role: '' };
    case 'grant':
      return {
        key: collaborator.id,
        name: collaborator.grantee.displayName ?? said.someone,
        role: nameRole(collaborator.role, 'experiment'),
      };
  }
}

interface PeopleSectionProps {
  id: string;
  /** Whether the caller may share the experiment: if so, roles are read; if not, only who takes part. */
  canShare: boolean;
  action?: ReactNode;
}

/** The people of an experiment. */
export function PeopleSection({ id, canShare, action }: PeopleSectionProps) {
  const collaborators = useQuery({ ...collaboratorsQuery({ resourceType: 'experiment', id }), enabled: canShare });
  const contributors = useQuery({ ...contributorsQuery(id), enabled: !canShare });
  const people = canShare
    ? collaborators.data?.map(personOf)
    : contributors.data?.map(({ userId, firstName, lastName }): Person => ({
        key: userId,
        name: `${firstName} ${lastName}`.trim(),
        role: '',
      }));
  const { error, refetch } = canShare ? collaborators : contributors;
  return (
    <Section id="people" title={said.people} asked={{ data: people, error, refetch }} empty={() => undefined} action={action}>
      {(list) => (
        <ul className="rows tight">
          {list.map(({ key, name, role }) => (
            <li key={key}>
              <span>{name}</span>
              <span className="small quiet">{role}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
