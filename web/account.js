import { attempt, call, createPasskey, element, onSubmit, say } from './api.js';

/** One click, one call, and the page as it is afterwards. */
function onClick(selector, path, body) {
  for (const button of document.querySelectorAll(selector))
    button.addEventListener('click', () =>
      attempt(button, async () => {
        await call('POST', path, body(button));
        location.reload();
      }),
    );
}

onSubmit(element('profile-form'), async ({ firstName, lastName, bio }) => {
  await call('POST', '/api/v1/users/profile', { firstName, lastName, bio });
  say('Your profile is saved.');
});

onClick('[data-revoke-session]', 'revoke-session', (button) => ({ token: button.dataset.revokeSession }));
onClick('#revoke-others', 'revoke-other-sessions', () => ({}));
onClick('[data-delete-passkey]', 'passkey/delete-passkey', (button) => ({ id: button.dataset.deletePasskey }));
onClick('[data-revoke-key]', 'api-key/delete', (button) => ({ keyId: button.dataset.revokeKey }));
onClick('[data-unlink]', 'unlink-account', (button) => ({ providerId: button.dataset.unlink }));

for (const form of document.querySelectorAll('form.rename'))
  onSubmit(form, async ({ name }) => {
    await call('POST', 'passkey/update-passkey', { id: form.dataset.passkey, name });
    say('The passkey is renamed.');
  });

onSubmit(element('passkey-form'), async ({ name }) => {
  const response = await createPasskey(await call('GET', 'passkey/generate-register-options'));
  await call('POST', 'passkey/verify-registration', { response, name });
  location.reload();
});

onSubmit(element('key-form'), async ({ name, expiresIn }) => {
  const made = await call('POST', 'api-key/create', { name, expiresIn: expiresIn === '' ? null : Number(expiresIn) });
  element('new-key-value').textContent = made.key;
  element('new-key').hidden = false;
  element('new-key-value').focus();
  element('key-form').reset();
});
