import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { Field, SelectField } from '../ui/field.tsx';
import { findLastError } from '../ui/last-error.ts';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import {
  granteeOrganizationsQuery,
  granteeTeamsQuery,
  granteeUsersQuery,
  ROLES,
  type GranteeType,
  type Role,
  type Shared,
} from './queries.ts';
import { nameRole, rightsOf } from './people.tsx';
import { inviteAddress, isInvitable, share } from './writes.ts';

const said = words.sharing.add;
const KINDS = ['user', 'team', 'organization'] as const satisfies readonly GranteeType[];
const ADDRESS = /^\S+@\S+\.\S+$/;

/** Somebody, or some people, that a thing can be shared with. */
interface Candidate {
  id: string;
  name: string;
  about: string;
  has: Role | null;
}

/** The candidates of a kind; undefined while they are asked for. */
function useCandidates(shared: Shared, kind: GranteeType, search: string): { found: Candidate[] | undefined; error: unknown } {
  const users = useQuery({
    ...granteeUsersQuery(shared, search),
    enabled: kind === 'user' && search !== '',
    placeholderData: keepPreviousData,
  });
  const teams = useQuery({ ...granteeTeamsQuery(shared), enabled: kind === 'team' });
  const organizations = useQuery({ ...granteeOrganizationsQuery, enabled: kind === 'organization' });
  switch (kind) {
    case 'user':
      return {
        error: users.error,
        found:
          search === ''
            ? []
            : users.data?.map(({ userId, firstName, lastName, email, existingGrantRole }) => ({
                id: userId,
                name: `${firstName} ${lastName}`.trim(),
                about: email ?? '',
                has: existingGrantRole,
              })),
      };
    case 'team':
      return {
        error: teams.error,
        found: teams.data?.map(({ id, name, memberCount }) => ({ id, name, about: words.sharing.people(memberCount), has: null })),
      };
    case 'organization':
      return { error: organizations.error, found: organizations.data?.map(({ id, name, slug }) => ({ id, name, about: slug, has: null })) };
  }
}

/** Shares a thing with people, teams and organizations, and invites addresses. */
export function SharePanel({ shared }: { shared: Shared }) {
  const [kind, setKind] = useState<GranteeType>('user');
  const [typed, setTyped] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const search = useDeferredValue(typed.trim());
  const { found, error } = useCandidates(shared, kind, search);
  const give = useMutation({
    mutationFn: ({ id }: Candidate) => share(shared, { granteeType: kind, granteeId: id, role }),
    onSuccess: (_, { name }) => sayDone(said.done(name)),
  });
  const invite = useMutation({
    mutationFn: async (address: string) => {
      if (isInvitable(shared)) await inviteAddress(shared, address, role === 'viewer' ? 'viewer' : 'admin');
    },
    onSuccess: (_, address) => sayDone(said.invited(address)),
  });
  const isBusy = give.isPending || invite.isPending;
  // what was written meanwhile stays
  const empty = { onSuccess: () => setTyped((now) => (now === typed ? '' : now)) };
  const isUnknown = kind === 'user' && found?.length === 0 && search !== '';
  // the found may be others, whose addresses hold what was typed
  const hasAddress = found?.some(({ about }) => about.toLowerCase() === search.toLowerCase()) ?? true;
  const mayInvite = kind === 'user' && !hasAddress && ADDRESS.test(search) && isInvitable(shared);
  return (
    <section className="panel" aria-labelledby="share">
      <h2 id="share">{said.title}</h2>
      <div className="inline">
        <SelectField
          id="share-kind"
          label={said.kind}
          value={kind}
          onChange={(event) => setKind(KINDS.find((each) => each === event.target.value) ?? 'user')}
        >
          <Options texts={KINDS.map((each) => [each, said.kinds[each]])} />
        </SelectField>
        <SelectField
          id="share-role"
          label={said.role}
          aria-describedby="share-role-hint"
          value={role}
          onChange={(event) => setRole(ROLES.find((each) => each === event.target.value) ?? 'viewer')}
        >
          <Options texts={ROLES.map((each) => [each, nameRole(each, shared.resourceType)])} />
        </SelectField>
      </div>
      <p id="share-role-hint" className="hint">
        {said.roleHint(nameRole(role, shared.resourceType), rightsOf(role, shared.resourceType))}
      </p>
      {kind === 'user' ? (
        <Field id="share-search" label={said.search}>
          <input
            id="share-search"
            className="input"
            type="search"
            maxLength={200}
            autoComplete="off"
            aria-describedby="share-hint"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <p id="share-hint" className="hint">
            {said.searchHint}
          </p>
        </Field>
      ) : null}
      <Problem error={error ?? findLastError(give, invite)} />
      {found === undefined || found.length === 0 ? null : (
        <ul className="rows tight" aria-label={said.found}>
          {found.map((each) => (
            <li key={each.id}>
              <div>
                <p>{each.name}</p>
                <p className="small quiet">
                  {each.about} {each.has === null ? '' : said.has(nameRole(each.has, shared.resourceType))}
                </p>
              </div>
              {each.has === null ? (
                <SendButton aria-label={said.shareWith(each.name)} isSending={isBusy} onClick={() => give.mutate(each, empty)}>
                  {said.share}
                </SendButton>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      <div role="status" className="stack">
        {mayInvite ? (
          <>
            <p className="small quiet">{said.inviteText}</p>
            <p className="invite">
              <SendButton className="button primary" isSending={isBusy} onClick={() => invite.mutate(search, empty)}>
                {said.invite(search)}
              </SendButton>
            </p>
          </>
        ) : isUnknown ? (
          <p className="small quiet">{said.none}</p>
        ) : found?.length === 0 && kind !== 'user' ? (
          <p className="small quiet">{kind === 'team' ? said.teamsNone : said.organizationsNone}</p>
        ) : found !== undefined && found.length > 0 ? (
          <p className="hidden-visually">{said.foundCount(found.length)}</p>
        ) : null}
      </div>
    </section>
  );
}
