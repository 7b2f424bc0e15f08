import { useMutation, useQuery } from '@tanstack/react-query';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, SendLine } from '../ui/form.tsx';
import { RequestsSection, type Decision } from '../ui/requests.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { nameRole } from './people.tsx';
import { invitationsQuery, ownRequestQuery, requestsQuery, type Shared } from './queries.ts';
import { approveRequest, askToJoin, rejectRequest, revokeInvitation, withdrawRequest } from './writes.ts';

const said = words.sharing;

/** Invitations to a thing that wait for an answer. */
export function InvitationsPanel({ shared }: { shared: Shared }) {
  const asked = useQuery(invitationsQuery(shared));
  const revoke = useMutation({
    mutationFn: (invitationId: string) => revokeInvitation(shared, invitationId),
    onSuccess: () => sayDone(said.invitations.revoked),
  });
  return (
    <Section
      id="invitations"
      title={said.invitations.title}
      asked={asked}
      empty={(list) => (list.length === 0 ? said.invitations.none : undefined)}
    >
      {(list) => (
        <>
          <ul className="rows tight">
            {list.map(({ id, email, tier, invitedByName, expiresAt }) => (
              <li key={id}>
                <div>
                  <p className="address">{email}</p>
                  <p className="small quiet">
                    {said.invitations.facts(nameRole(tier, shared.resourceType), invitedByName, dayText(expiresAt))}
                  </p>
                </div>
                <SendButton aria-label={said.invitations.revokeLabel(email)} isSending={revoke.isPending} onClick={() => revoke.mutate(id)}>
                  {said.invitations.revoke}
                </SendButton>
              </li>
            ))}
          </ul>
          <Problem error={revoke.error} />
        </>
      )}
    </Section>
  );
}

/** People who ask to take part in an experiment, and the decision. */
export function RequestsPanel({ id }: { id: string }) {
  const decide = useMutation({
    mutationFn: async ({ requestId, isIn }: Decision) => (isIn ? approveRequest(id, requestId) : rejectRequest(id, requestId)),
    onSuccess: (_, { isIn }) => sayDone(isIn ? said.requests.approved : said.requests.rejected),
  });
  return <RequestsSection title={said.requests.title} asked={useQuery(requestsQuery(id))} decide={decide} />;
}

/** Asks to take part in a public experiment, or takes the request back. */
export function AskPanel({ id }: { id: string }) {
  const own = useQuery(ownRequestQuery(id));
  const ask = useMutation({ mutationFn: (message: string) => askToJoin(id, message) });
  const withdraw = useMutation({
    mutationFn: (requestId: string) => withdrawRequest(id, requestId),
    onSuccess: () => sayDone(said.requests.withdrawn),
  });
  return (
    <Section id="ask" title={said.requests.ask} asked={own} empty={() => undefined}>
      {(request) =>
        request === null ? (
          <Form className="stack" send={(fields) => ask.mutate(fields['message']?.trim() ?? '')}>
            <p>{said.requests.askText}</p>
            <TextField id="ask-message" label={said.requests.message} name="message" rows={2} maxLength={250} />
            <SendLine sent={ask} says={said.requests.ask} />
          </Form>
        ) : (
          <>
            <p role="status">{said.requests.asked}</p>
            <Problem error={withdraw.error} />
            <p>
              <SendButton isSending={withdraw.isPending} onClick={() => withdraw.mutate(request.id)}>
                {said.requests.withdraw}
              </SendButton>
            </p>
          </>
        )
      }
    </Section>
  );
}
