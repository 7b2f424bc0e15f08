import { attempt, call, element, onSubmit, say, usePasskey } from './api.js';

const next = element('methods').dataset.next;
const sendForm = element('send-form');
const codeForm = element('code-form');
let address = '';

// a hint only: which way worked the last time in this browser
const last = /(?:^|; )better-auth\.last_used_login_method=([a-z]+)/.exec(document.cookie)?.[1];
const lastMethod = last ? document.querySelector(`[data-method="${last}"]`) : null;
if (lastMethod) {
  const hint = document.createElement('span');
  hint.className = 'last';
  hint.textContent = 'Last used';
  (lastMethod.querySelector('h2') ?? lastMethod).append(hint);
}

onSubmit(sendForm, async ({ email }) => {
  await call('POST', 'email-otp/send-verification-otp', { email, type: 'sign-in' });
  address = email;
  element('sent-to').textContent = email;
  sendForm.hidden = true;
  codeForm.hidden = false;
  element('code').focus();
  say('If the address can be written to, a code is on its way. It works for five minutes.');
});

onSubmit(codeForm, async ({ code }) => {
  await call('POST', 'sign-in/email-otp', { email: address, otp: code });
  location.assign(next);
});

element('other-address').addEventListener('click', () => {
  codeForm.hidden = true;
  sendForm.hidden = false;
  element('code').value = '';
  element('email').focus();
  say('');
});

element('passkey').addEventListener('click', (event) =>
  attempt(event.currentTarget, async () => {
    const response = await usePasskey(await call('GET', 'passkey/generate-authenticate-options'));
    await call('POST', 'passkey/verify-authentication', { response });
    location.assign(next);
  }),
);

// passkeys belong to a name: at a bare address of this machine there can be none
if (/^[\d.]+$|^\[/.test(location.hostname)) {
  const link = document.createElement('a');
  link.href = `${location.protocol}//localhost:${location.port}/platform/sign-in`;
  link.textContent = 'Passkeys work at localhost';
  element('passkey').replaceWith(link);
}

for (const button of document.querySelectorAll('.provider'))
  button.addEventListener('click', () =>
    attempt(button, async () => {
      const { url } = await call('POST', 'sign-in/oauth2', { providerId: button.dataset.provider, callbackURL: next });
      location.assign(url);
    }),
  );
