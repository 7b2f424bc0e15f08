import { attempt, call, element, say } from './api.js';

const list = element('invitations');

function actionButton(label, path, invitation, done) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = label;
  button.setAttribute('aria-label', `${label} the invitation to ${invitation.organizationName}`);
  button.addEventListener('click', () =>
    attempt(button, async () => {
      await call('POST', `organization/${path}`, { invitationId: invitation.id });
      say(done);
      await show();
    }),
  );
  return button;
}

function row(invitation) {
  const item = document.createElement('li');
  const what = document.createElement('div');
  const name = document.createElement('strong');
  name.textContent = invitation.organizationName;
  const hint = document.createElement('span');
  hint.className = 'hint';
  hint.textContent = `as ${invitation.role ?? 'member'}, until ${new Date(invitation.expiresAt).toLocaleString()}`;
  what.append(name, hint);
  const actions = document.createElement('div');
  actions.append(
    actionButton('Accept', 'accept-invitation', invitation, `You are now a member of ${invitation.organizationName}.`),
    actionButton('Decline', 'reject-invitation', invitation, 'The invitation is declined.'),
  );
  item.append(what, actions);
  return item;
}

async function show() {
  const invitations = await call('GET', 'organization/list-user-invitations');
  const open = invitations.filter(({ expiresAt }) => new Date(expiresAt) > new Date());
  list.replaceChildren(...open.map(row));
  element('none').hidden = open.length > 0;
}

void attempt(null, show);
