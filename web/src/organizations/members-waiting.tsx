import { useMutation, useQuery } from '@tanstack/react-query';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { type Fields, Form, SendLine } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { Options } from '../ui/options.tsx';
import { RequestsSection, type Decision } from '../ui/requests.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { invitationsQuery, requestsQuery, type Organization } from './queries.ts';
import { cancelInvitation, decideRequest, inviteMember } from './writes.ts';

const said = words.organizations.members;

function InvitationsList({ id }: { id: string }) {
  const asked = useQuery(invitationsQuery(id));
  const cancel = useMutation({
    mutationFn: (invitationId: string) => cancelInvitation(id, invitationId),
    onSuccess: () => sayDone(said.cancelled),
  });
  return (
    <Section
      id="invitations"
      title={said.invitations}
      asked={asked}
      empty={(list) => (list.length === 0 ? said.invitationsNone : undefined)}
    >
      {(list) => (
        <>
          <ul className="rows tight">
            {list.map(({ id: invitationId, email, role, expiresAt }) => (
              <li key={invitationId}>
                <div>
                  <p className="address">{email}</p>
                  <p className="small quiet">{said.invitation(words.organizations.roles[role] ?? role, momentText(expiresAt))}</p>
                </div>
                <SendButton aria-label={said.cancelLabel(email)} isSending={cancel.isPending} onClick={() => cancel.mutate(invitationId)}>
                  {said.cancel}
                </SendButton>
              </li>
            ))}
          </ul>
          <Problem error={cancel.error} />
        </>
      )}
    </Section>
  );
}

/** Invites an address, and shows the invitations that wait. */
export function InvitePanel({ organization: { id }, roles }: { organization: Organization; roles: readonly string[] }) {
  const invite = useMutation({
    mutationFn: ({ email, role }: { email: string; role: string }) => inviteMember(id, email, role),
    onSuccess: (_, { email }) => sayDone(said.sent(email)),
  });
  const submit = ({ email = '', role = 'member' }: Fields, form: HTMLFormElement) =>
    invite.mutate({ email, role }, { onSuccess: resetOnceTaken(form) });
  return (
    <>
      <section className="panel" aria-labelledby="invite">
        <h2 id="invite">{said.invite}</h2>
        <Form className="stack" send={submit}>
          <InputField id="invite-address" label={said.address} type="email" name="email" required maxLength={320} autoComplete="off" />
          <SelectField id="invite-role" label={said.as} name="role">
            <Options texts={roles.map((each) => [each, words.organizations.roles[each]])} />
          </SelectField>
          <SendLine sent={invite} says={said.send} />
        </Form>
      </section>
      <InvitationsList id={id} />
    </>
  );
}

/** People who ask to join, and the decision. */
export function RequestsPanel({ id }: { id: string }) {
  const decide = useMutation({
    mutationFn: ({ requestId, isIn }: Decision) => decideRequest(id, requestId, isIn ? 'approve' : 'reject'),
    onSuccess: () => sayDone(said.decided),
  });
  return <RequestsSection title={said.requests} asked={useQuery(requestsQuery(id))} decide={decide} />;
}
