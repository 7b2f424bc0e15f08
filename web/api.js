// What the pages share: calls to the API, and telling the person how they went.

/** Calls the authentication layer; answers the body, or throws an Error with the sentence of the problem. */
export async function call(method, path, body) {
  const response = await fetch(path.startsWith('/') ? path : `/api/v1/auth/${path}`, {
    method,
    credentials: 'same-origin',
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === '' ? null : JSON.parse(text);
  if (!response.ok) throw new Error(answer?.detail ?? `The service answered ${response.status}.`);
  return answer;
}

export const element = (id) => document.getElementById(id);

export function say(text) {
  element('problem').textContent = '';
  element('notice').textContent = text;
}

/** Runs what a button or a form does, with the button off meanwhile and a failure told in words. */
export async function attempt(button, work) {
  element('problem').textContent = '';
  if (button) button.disabled = true;
  try {
    await work();
  } catch (error) {
    const gone = error instanceof DOMException;
    element('problem').textContent = gone
      ? 'The passkey was not used: it was cancelled, timed out, or is not available here.'
      : error.message;
  } finally {
    if (button) button.disabled = false;
  }
}

export function onSubmit(form, work) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(event.submitter, () => work(Object.fromEntries(new FormData(form))));
  });
}

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Makes a passkey from the options that the service gave. */
export async function createPasskey(options) {
  const credential = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: (options.excludeCredentials ?? []).map((held) => ({ ...held, id: bytes(held.id) })),
    },
  });
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    response: {
      clientDataJSON: text(credential.response.clientDataJSON),
      attestationObject: text(credential.response.attestationObject),
      transports: credential.response.getTransports?.() ?? [],
    },
  };
}

/** Signs a challenge with a passkey. */
export async function usePasskey(options) {
  const credential = await navigator.credentials.get({
    publicKey: { ...options, challenge: bytes(options.challenge), allowCredentials: [] },
  });
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    response: {
      clientDataJSON: text(credential.response.clientDataJSON),
      authenticatorData: text(credential.response.authenticatorData),
      signature: text(credential.response.signature),
      ...(credential.response.userHandle ? { userHandle: text(credential.response.userHandle) } : {}),
    },
  };
}

element('sign-out')?.addEventListener('click', (event) =>
  attempt(event.currentTarget, async () => {
    await call('POST', 'sign-out', {});
    location.assign('/platform/sign-in');
  }),
);
