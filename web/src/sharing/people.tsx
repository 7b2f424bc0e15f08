import { useMutation, useQuery } from '@tanstack/react-query';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { Section } from '../ui/section.tsx';
import { SendSelect } from '../ui/send-select.tsx';
import { words } from '../words.ts';
import { collaboratorsQuery, ROLES, type Collaborator, type Grant, type Role, type Shared } from './queries.ts';
import { changeRole, removeGrant } from './writes.ts';

const said = words.sharing;

/** What a role lets one do with a thing of a kind. */
export function rightsOf(role: Role, resourceType: Shared['resourceType']): string {
  if (role !== 'viewer') return said.roles[role];
  return resourceType === 'experiment' ? said.roles.viewer.experiment : said.roles.viewer.other;
}

/** What a role is called: of an experiment a viewer contributes, as letters say too. */
export const nameRole = (role: Role, resourceType: Shared['resourceType']): string =>
  role === 'viewer' && resourceType === 'experiment' ? said.contributor : said.roleNames[role];

/** The way by which a grant gives its holder access, as a sentence. */
function wayOf({ granteeType, role, resourceType, createdAt, grantee }: Grant): string {
  const [may, when] = [rightsOf(role, resourceType), dayText(createdAt)];
  switch (granteeType) {
    case 'user':
      return said.why.user(may, when);
    case 'team':
      return said.why.team(said.people(grantee.memberCount ?? 0), may, when);
    case 'organization':
      return said.why.organization(may, when);
  }
}

function RemoveGrant({ shared, grantId, name }: { shared: Shared; grantId: string; name: string }) {
  return (
    <AskFirst
      action={said.remove}
      label={said.removeLabel(name)}
      question={said.removeAsk(name)}
      consequence={said.removeText}
      perform={async () => {
        await removeGrant(shared, grantId);
        sayDone(said.removed);
      }}
    />
  );
}

function GrantRow({ shared, grant, mayShare }: { shared: Shared; grant: Grant; mayShare: boolean }) {
  const { id, role, grantee, isOutsideCollaborator } = grant;
  const name = grantee.displayName ?? grantee.email ?? said.someone;
  const change = useMutation({ mutationFn: (next: Role) => changeRole(shared, id, next), onSuccess: () => sayDone(said.changed) });
  return (
    <li>
      <div>
        <h3>
          {name} {isOutsideCollaborator ? <span className="tag warn">{said.why.outside}</span> : null}
        </h3>
        <p className="small quiet">
          {grantee.email === null || grantee.email === name ? '' : `${grantee.email}. `}
          {wayOf(grant)}
        </p>
        <Problem error={change.error} />
      </div>
      {mayShare ? (
        <div className="inline">
          <SendSelect
            label={said.roleOf(name)}
            value={change.isPending ? change.variables : role}
            isSending={change.isPending}
            choose={(next) => change.mutate(ROLES.find((each) => each === next) ?? 'viewer')}
            texts={ROLES.map((each) => [each, nameRole(each, shared.resourceType)])}
          />
          <RemoveGrant shared={shared} grantId={id} name={name} />
        </div>
      ) : (
        <span className="tag">{nameRole(role, shared.resourceType)}</span>
      )}
    </li>
  );
}

function CollaboratorRow({ shared, collaborator, mayShare }: { shared: Shared; collaborator: Collaborator; mayShare: boolean }) {
  if (collaborator.kind === 'grant') return <GrantRow shared={shared} grant={collaborator} mayShare={mayShare} />;
  const organization = collaborator.organizationName ?? said.personal;
  if (collaborator.kind === 'owner') {
    const { grantee, inertGrant } = collaborator;
    const name = grantee.displayName ?? grantee.email ?? said.someone;
    return (
      <li>
        <div>
          <h3>{name}</h3>
          <p className="small quiet">
            {said.why.owner(organization)} {inertGrant === null ? '' : said.why.inert(nameRole(inertGrant.role, shared.resourceType))}
          </p>
        </div>
        {inertGrant !== null && mayShare ? <RemoveGrant shared={shared} grantId={inertGrant.id} name={name} /> : null}
      </li>
    );
  }
  const isAdmins = collaborator.kind === 'orgAdmins';
  return (
    <li>
      <div>
        <h3>{isAdmins ? said.admins(collaborator.adminCount) : said.members(collaborator.memberCount)}</h3>
        <p className="small quiet">
          {isAdmins ? said.why.admins(organization) : said.why.members(organization, rightsOf('viewer', shared.resourceType))}
        </p>
      </div>
    </li>
  );
}

const keyOf = (each: Collaborator) => (each.kind === 'grant' ? each.id : each.kind === 'owner' ? `owner ${each.granteeId}` : each.kind);

/** Who may do what with a thing, and by which way. */
export function PeoplePanel({ shared, mayShare, isPublic }: { shared: Shared; mayShare: boolean; isPublic: boolean }) {
  const asked = useQuery(collaboratorsQuery(shared));
  return (
    <Section id="who" title={said.who} asked={asked} empty={() => undefined}>
      {(list) => (
        <ul className="rows">
          {list.map((each) => (
            <CollaboratorRow key={keyOf(each)} shared={shared} collaborator={each} mayShare={mayShare} />
          ))}
          {isPublic ? (
            <li>
              <div>
                <h3>{said.everybody}</h3>
                <p className="small quiet">{said.everybodyWhy}</p>
              </div>
            </li>
          ) : null}
        </ul>
      )}
    </Section>
  );
}
