import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { nameRole } from '../sharing/people.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { findLastError } from '../ui/last-error.ts';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { isAdmin } from './layout.tsx';
import { membersQuery, organizationQuery, teamGrantsQuery, teamsQuery, type Team } from './queries.ts';
import { addTeamMember, makeTeam, removeTeam, removeTeamMember, renameTeam } from './writes.ts';

const route = getRouteApi('/guarded/organizations/$organization/teams');
const said = words.organizations.teams;

const nameOf = ({ firstName, lastName }: { firstName: string; lastName: string }) => `${firstName} ${lastName}`.trim();

function TeamTools({ id, team }: { id: string; team: Team }) {
  const members = useQuery(membersQuery(id)).data ?? [];
  const isIn = new Set(team.members.map(({ userId }) => userId));
  const open = members.filter(({ userId }) => !isIn.has(userId));
  const add = useMutation({ mutationFn: (userId: string) => addTeamMember(id, team.id, userId) });
  const rename = useMutation({
    mutationFn: (name: string) => renameTeam(id, team.id, name),
    onSuccess: () => sayDone(said.renamed),
  });
  return (
    <div className="stack">
      {open.length === 0 ? null : (
        <Form className="inline" send={({ member = '' }) => add.mutate(member)}>
          <div className="field">
            <select className="input" name="member" required aria-label={said.addLabel(team.name)}>
              <Options texts={open.map(({ userId, user }) => [userId, user.name === '' ? user.email : user.name])} />
            </select>
          </div>
          <SendButton type="submit" isSending={add.isPending}>
            {said.add}
          </SendButton>
        </Form>
      )}
      <Form className="inline" send={({ name = '' }, form) => rename.mutate(name, { onSuccess: resetOnceTaken(form) })}>
        <div className="field">
          <input className="input" name="name" required maxLength={255} defaultValue={team.name} aria-label={said.renameLabel(team.name)} />
        </div>
        <SendButton type="submit" isSending={rename.isPending}>
          {said.rename}
        </SendButton>
        <AskFirst
          action={said.remove}
          label={said.removeLabel(team.name)}
          question={said.removeAsk(team.name)}
          consequence={said.removeText}
          perform={async () => {
            await removeTeam(id, team.id);
            sayDone(said.removed);
          }}
        />
      </Form>
      <Problem error={findLastError(add, rename)} />
    </div>
  );
}

function TeamPanel({ id, team, isChangeable }: { id: string; team: Team; isChangeable: boolean }) {
  const grants = useQuery(teamGrantsQuery(id)).data?.filter(({ teamId }) => teamId === team.id) ?? [];
  const takeOut = useMutation({ mutationFn: (userId: string) => removeTeamMember(id, team.id, userId) });
  return (
    <section className="panel" aria-labelledby={`team-${team.id}`}>
      <h2 id={`team-${team.id}`}>{team.name}</h2>
      {team.members.length === 0 ? <p className="quiet">{said.empty}</p> : null}
      <ul className="rows tight">
        {team.members.map((person) => (
          <li key={person.userId}>
            <div>
              <p>{nameOf(person)}</p>
            </div>
            {isChangeable ? (
              <SendButton
                aria-label={said.takeOutLabel(nameOf(person), team.name)}
                isSending={takeOut.isPending}
                onClick={() => takeOut.mutate(person.userId)}
              >
                {said.takeOut}
              </SendButton>
            ) : null}
          </li>
        ))}
      </ul>
      <Problem error={takeOut.error} />
      <p className="small quiet">
        {grants.length === 0
          ? said.givenNone
          : `${said.given}: ${grants.map(({ resourceName, resourceType, role }) => said.grant(resourceName, nameRole(role, resourceType))).join('; ')}`}
      </p>
      {isChangeable ? <TeamTools id={id} team={team} /> : null}
    </section>
  );
}

/** The teams of an organization: who is in them, and what was shared with them. */
export function TeamsPage() {
  const { organization: id } = route.useParams();
  const organization = useSuspenseQuery(organizationQuery(id)).data;
  const teams = useQuery(teamsQuery(id));
  const make = useMutation({ mutationFn: (name: string) => makeTeam(id, name), onSuccess: () => sayDone(said.made) });
  const submit = (fields: Fields, form: HTMLFormElement) => make.mutate(fields['name'] ?? '', { onSuccess: resetOnceTaken(form) });
  return (
    <div className="stack">
      <Problem error={teams.error} retry={() => void teams.refetch()} />
      {teams.data?.length === 0 ? <p className="panel quiet">{said.none}</p> : null}
      <div className="cards" data-awaited={teams.isLoading}>
        {teams.data?.map((team) => (
          <TeamPanel key={team.id} id={id} team={team} isChangeable={isAdmin(organization)} />
        ))}
      </div>
      {isAdmin(organization) ? (
        <Form className="panel" send={submit}>
          <div className="inline">
            <InputField id="team-name" label={said.new} name="name" required maxLength={255} autoComplete="off" />
            <SendButton type="submit" className="button primary" isSending={make.isPending}>
              {said.make}
            </SendButton>
          </div>
          <Problem error={make.error} />
        </Form>
      ) : null}
    </div>
  );
}
