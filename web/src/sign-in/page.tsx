import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { answerOf, auth, providersQuery, renewSession } from '../shell/session.ts';
import { Field } from '../ui/field.tsx';
import { takeFocus } from '../ui/focus.ts';
import { Form, type Fields } from '../ui/form.tsx';
import { findLastError } from '../ui/last-error.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { ProviderFailure } from './failure.tsx';

const route = getRouteApi('/sign-in');

/** A hint only: which way worked the last time in this browser. */
const lastMethod = /(?:^|; )better-auth\.last_used_login_method=([a-z]+)/.exec(document.cookie)?.[1];
const LastUsed = ({ method }: { method: string }) =>
  method === lastMethod ? <span className="tag good">{words.signIn.lastUsed}</span> : null;

/** Passkeys belong to a name: at a bare address there can be none. */
const isBareAddress = /^[\d.]+$|^\[/.test(location.hostname);

/** Goes on to where the person wanted to be. */
function useArrival() {
  const router = useRouter();
  const { next = '/' } = route.useSearch();
  return async () => {
    await renewSession();
    router.history.push(next);
  };
}

function CodeForm() {
  const arrive = useArrival();
  const [address, setAddress] = useState('');
  const send = useMutation({
    mutationFn: async (email: string) => answerOf(auth.emailOtp.sendVerificationOtp({ email, type: 'sign-in' })),
    onSuccess: (_, email) => setAddress(email),
  });
  const enter = useMutation({
    mutationFn: async (otp: string) => answerOf(auth.signIn.emailOtp({ email: address, otp })),
    onSuccess: arrive,
  });
  const submit = ({ email, code }: Fields) => {
    if (address === '') send.mutate(email ?? '');
    else enter.mutate((code ?? '').replace(/\s/g, ''));
  };
  const turnBack = () => {
    setAddress('');
    enter.reset();
  };
  if (address === '')
    return (
      <Form key="send" className="panel" send={submit}>
        <header>
          <h2>{words.signIn.byCode}</h2>
          <LastUsed method="email" />
        </header>
        <Field id="email" label={words.signIn.email}>
          <input id="email" className="input" name="email" type="email" autoComplete="username webauthn" required maxLength={254} />
          <p className="hint">{words.signIn.emailHint}</p>
        </Field>
        <Problem error={send.error} />
        <div className="inline">
          <SendButton type="submit" className="button primary" isSending={send.isPending}>
            {words.signIn.send}
          </SendButton>
        </div>
      </Form>
    );
  return (
    <Form key="enter" className="panel" send={submit}>
      <h2>{words.signIn.enterCode}</h2>
      <p role="status">{words.signIn.sent}</p>
      <Field id="code" label={words.signIn.code(address)}>
        <input
          id="code"
          ref={takeFocus}
          className="input code-input"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="\s*([0-9]\s*){6}"
          required
        />
      </Field>
      <Problem error={enter.error} />
      <div className="inline">
        <SendButton type="submit" className="button primary" isSending={enter.isPending}>
          {words.signIn.submit}
        </SendButton>
        <button type="button" className="button" onClick={turnBack}>
          {words.signIn.otherAddress}
        </button>
      </div>
    </Form>
  );
}

function OtherWays() {
  const arrive = useArrival();
  const { next = '/' } = route.useSearch();
  const { data: providers } = useQuery(providersQuery);
  const passkey = useMutation({ mutationFn: async () => answerOf(auth.signIn.passkey()), onSuccess: arrive });
  const provider = useMutation({
    mutationFn: async (providerId: string) =>
      answerOf(auth.signIn.oauth2({ providerId, callbackURL: next, errorCallbackURL: '/sign-in', disableRedirect: true })),
    onSuccess: ({ url }) => location.assign(url),
  });
  return (
    <section className="panel" aria-labelledby="others">
      <h2 id="others">{words.signIn.others}</h2>
      <Problem error={findLastError(passkey, provider)} />
      <div className="inline">
        {isBareAddress ? (
          <a href={`${location.protocol}//localhost:${location.port}/sign-in`}>{words.signIn.passkeyElsewhere}</a>
        ) : (
          <SendButton isSending={passkey.isPending} onClick={() => passkey.mutate()}>
            {words.signIn.passkey} <LastUsed method="passkey" />
          </SendButton>
        )}
        {providers?.map((each) => (
          <SendButton key={each} isSending={provider.isPending} onClick={() => provider.mutate(each)}>
            {words.signIn.provider(words.signIn.providers[each] ?? each)} <LastUsed method={each} />
          </SendButton>
        ))}
      </div>
    </section>
  );
}

/** Signing in: by a code, and by whatever else is on. */
export function SignInPage() {
  const { error } = route.useSearch();
  return (
    <div className="page narrow stack">
      <title>{`${words.signIn.title} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{words.signIn.title}</h1>
        <p className="quiet">{words.signIn.lead}</p>
      </header>
      <ProviderFailure title={words.signIn.failedTitle} code={error} />
      <CodeForm />
      <OtherWays />
    </div>
  );
}
