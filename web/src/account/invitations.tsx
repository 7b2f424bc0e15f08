import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, queryClient } from '../api.ts';
import { momentText } from '../shell/format.ts';
import { NameAsked } from '../shell/name-asked.tsx';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { invitationsQuery } from './queries.ts';

const said = words.invitations;

/** Invitations to organizations, which wait for an answer. */
export function InvitationsPage() {
  const { data, error, refetch } = useQuery(invitationsQuery);
  const answer = useMutation({
    mutationFn: async ({ id, accepts }: { id: string; organizationName: string; accepts: boolean }) =>
      accepts
        ? api.POST('/api/v1/auth/organization/accept-invitation', { body: { invitationId: id } })
        : api.POST('/api/v1/auth/organization/reject-invitation', { body: { invitationId: id } }),
    onSuccess: async (_, { accepts, organizationName }) => {
      // an accepted invitation opens experiments too
      await queryClient.invalidateQueries();
      sayDone(accepts ? said.accepted(organizationName) : said.declined);
    },
  });
  return (
    <div className="page narrow stack">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{said.title}</h1>
        <p className="quiet">{said.lead}</p>
      </header>
      <NameAsked />
      <Problem error={error} retry={() => void refetch()} />
      <Problem error={answer.error} />
      {data?.length === 0 ? (
        <div className="panel stack">
          <p className="quiet">{said.none}</p>
          <p>
            <Link to="/organizations">{words.organizations.title}</Link>
          </p>
        </div>
      ) : null}
      {data === undefined || data.length === 0 ? null : (
        <ul className="rows panel" id="invitations" aria-label={said.list}>
          {data.map(({ id, organizationName, role, expiresAt }) => (
            <li key={id}>
              <div>
                <h2>{organizationName}</h2>
                <p className="small quiet">{said.facts(words.organizations.roles[role] ?? role, momentText(expiresAt))}</p>
              </div>
              <div className="inline">
                {([true, false] as const).map((accepts) => {
                  const action = accepts ? said.accept : said.decline;
                  return (
                    <SendButton
                      key={action}

                      className={`button ${accepts ? 'primary' : ''}`}
                      aria-label={said.actionLabel(action, organizationName)}
                      isSending={answer.isPending}
                      onClick={() => answer.mutate({ id, organizationName, accepts })}
                    >
                      {action}
                    </SendButton>
                  );
                })}
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
