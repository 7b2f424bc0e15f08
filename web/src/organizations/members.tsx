import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sessionQuery } from '../shell/session.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { Section } from '../ui/section.tsx';
import { SendSelect } from '../ui/send-select.tsx';
import { words } from '../words.ts';
import { isAdmin } from './layout.tsx';
import { InvitePanel, RequestsPanel } from './members-waiting.tsx';
import { membersQuery, organizationQuery, renewOrganization, type Member, type Organization } from './queries.ts';
import { changeMemberRole, leaveOrganization, removeMember } from './writes.ts';

const route = getRouteApi('/guarded/organizations/$organization/');
const said = words.organizations.members;

/** Owners are made, changed and removed by owners only. */
const mayChange = (organization: Organization, role: string): boolean =>
  organization.role === 'owner' || (organization.role === 'admin' && role !== 'owner');

export const rolesFor = ({ role }: Organization): readonly string[] =>
  words.organizations.roleNames.filter((each) => role === 'owner' || each !== 'owner');

function MemberRow({ organization, member, isOwn }: { organization: Organization; member: Member; isOwn: boolean }) {
  const { id, role, user, createdAt } = member;
  const change = useMutation({
    mutationFn: (next: string) => changeMemberRole(organization.id, id, next),
    onSuccess: () => sayDone(said.changed),
  });
  const name = user.name === '' ? (user.email ?? '') : user.name;
  return (
    <li>
      <div>
        <h3>
          {name} {isOwn ? <span className="tag">{said.you}</span> : null}
        </h3>
        <p className="small quiet facts">
          {user.email === null || user.email === name ? null : <span className="address">{user.email}</span>}
          <span>{said.since(dayText(createdAt))}</span>
        </p>
        <Problem error={change.error} />
      </div>
      {mayChange(organization, role) ? (
        <div className="inline">
          <SendSelect
            label={said.roleOf(name)}
            value={change.isPending ? change.variables : role}
            isSending={change.isPending}
            choose={change.mutate}
            texts={rolesFor(organization).map((each) => [each, words.organizations.roles[each] ?? each])}
          />
          {isOwn ? null : (
            <AskFirst
              action={said.remove}
              label={said.removeLabel(name)}
              question={said.removeAsk(name)}
              consequence={said.removeText}
              perform={async () => {
                await removeMember(organization.id, id);
                sayDone(said.removed);
              }}
            />
          )}
        </div>
      ) : (
        <span className="tag">{words.organizations.roles[role] ?? role}</span>
      )}
    </li>
  );
}

/** The members of an organization, and who may become one. */
export function MembersPage() {
  const { organization: id } = route.useParams();
  const organization = useSuspenseQuery(organizationQuery(id)).data;
  const isMember = organization.role !== null;
  const members = useQuery({ ...membersQuery(id), enabled: isMember });
  const { data: session } = useQuery(sessionQuery);
  const navigate = useNavigate();
  if (!isMember) return <p className="quiet">{words.problem.advice[403]}</p>;
  return (
    <div className="organization">
      <div className="stack">
        <Section id="members" title={said.title} asked={members} empty={() => undefined}>
          {(list) => (
            <ul className="rows">
              {list.map((member) => (
                <MemberRow key={member.id} organization={organization} member={member} isOwn={member.userId === session?.user.id} />
              ))}
            </ul>
          )}
        </Section>
        <div>
          <AskFirst
            action={said.leave}
            question={said.leaveAsk}
            consequence={said.leaveText}
            perform={async () => {
              await leaveOrganization(id);
              await navigate({ to: '/organizations' });
              await renewOrganization(id);
              sayDone(said.left);
            }}
          />
        </div>
      </div>
      {isAdmin(organization) ? (
        <div className="stack">
          <InvitePanel organization={organization} roles={rolesFor(organization)} />
          <RequestsPanel id={id} />
        </div>
      ) : null}
    </div>
  );
}
