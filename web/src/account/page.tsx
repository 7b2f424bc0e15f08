import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';
import { api, queryClient } from '../api.ts';
import { agoText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { answerOf, auth, providersQuery } from '../shell/session.ts';
import { sayDone, sayFailed } from '../shell/toasts.tsx';
import { ProviderFailure } from '../sign-in/failure.tsx';
import { InputField, TextField } from '../ui/field.tsx';
import { Form, SendLine } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { ClosingPanel } from './closing.tsx';
import { KeysPanel } from './keys.tsx';
import { NewsletterPanel } from './newsletter.tsx';
import { PasskeysPanel } from './passkeys.tsx';
import { activityQuery, linkedQuery, profileQuery, renewAccount, sessionsQuery } from './queries.ts';
import { EVENTS, nameBrowser } from './words.ts';

const route = getRouteApi('/guarded/account');
const said = words.account;

function ProfilePanel() {
  const { session } = route.useRouteContext();
  const { user } = session;
  const profile = useQuery({ ...profileQuery(user.id), enabled: user.registered });
  const save = useMutation({
    mutationFn: async ({ firstName = '', lastName = '', bio = '' }: Record<string, string | undefined>) =>
      api.POST('/api/v1/users/profile', { body: { firstName, lastName, bio } }),
    onSuccess: async () => {
      await renewAccount();
      // nothing asked for a profile before its first name made it
      if (!user.registered) await queryClient.query(profileQuery(user.id)).catch(() => undefined);
      sayDone(said.profile.saved);
    },
  });
  const isMissing = profile.error instanceof ProblemError && profile.error.status === 404;
  if (user.registered && profile.isPending)
    return (
      <section className="panel quiet" data-awaited>
        {words.waiting}
      </section>
    );
  // a form without what is stored would be saved over it
  if (profile.data === undefined && profile.error !== null && !isMissing)
    return (
      <section className="panel" aria-labelledby="profile-title">
        <h2 id="profile-title">{said.profile.title}</h2>
        <Problem error={profile.error} retry={() => void profile.refetch()} />
      </section>
    );
  const name = user.email ?? (user.name === '' ? said.noAddress : user.name);
  return (
    <section className="panel" aria-labelledby="profile-title">
      <h2 id="profile-title">{said.profile.title}</h2>
      <p>{said.signedInAs(name)}</p>
      <Form className="stack" send={(fields, form) => save.mutate(fields, { onSuccess: resetOnceTaken(form) })}>
        <KeepWritten />
        <div className="inline">
          <InputField
            id="first-name"
            label={said.profile.firstName}
            name="firstName"
            autoComplete="given-name"
            required
            maxLength={100}
            defaultValue={profile.data?.firstName}
          />
          <InputField
            id="last-name"
            label={said.profile.lastName}
            name="lastName"
            autoComplete="family-name"
            required
            maxLength={100}
            defaultValue={profile.data?.lastName}
          />
        </div>
        <TextField id="bio" label={said.profile.bio} name="bio" rows={3} defaultValue={profile.data?.bio ?? ''} />
        <SendLine sent={save} says={said.profile.save} />
      </Form>
    </section>
  );
}

function SessionsPanel() {
  const { session: own } = route.useRouteContext().session;
  const sessions = useQuery(sessionsQuery);
  const end = useMutation({
    mutationFn: async (token: string) => api.POST('/api/v1/auth/revoke-session', { body: { token } }),
    onSuccess: async () => {
      await renewAccount();
      sayDone(said.sessions.ended);
    },
    onError: sayFailed,
  });
  const endOthers = useMutation({
    mutationFn: async () => api.POST('/api/v1/auth/revoke-other-sessions'),
    onSuccess: async () => {
      await renewAccount();
      sayDone(said.sessions.othersEnded);
    },
    onError: sayFailed,
  });
  return (
    <Section
      id="sessions-title"
      title={said.sessions.title}
      asked={sessions}
      empty={() => undefined}
      form={
        <div>
          <SendButton isSending={endOthers.isPending} onClick={() => endOthers.mutate()}>
            {said.sessions.endOthers}
          </SendButton>
        </div>
      }
    >
      {(list) => (
        <ul className="rows" id="sessions">
          {list.map(({ id, token, userAgent, ipAddress, createdAt }) => (
            <li key={id}>
              <div>
                <h3 title={userAgent ?? undefined}>
                  {id === own.id ? said.sessions.own : userAgent ? nameBrowser(userAgent) : said.sessions.unknown}
                </h3>
                <p className="small quiet">{said.sessions.from(ipAddress ?? said.sessions.unknownPlace, momentText(createdAt))}</p>
              </div>
              {id === own.id ? null : (
                <SendButton
                  className="button danger"
                  aria-label={said.sessions.endLabel(momentText(createdAt))}
                  isSending={end.isPending}
                  onClick={() => end.mutate(token)}
                >
                  {said.sessions.end}
                </SendButton>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ProvidersPanel() {
  const linked = useQuery(linkedQuery);
  const offered = useQuery(providersQuery);
  const unlink = useMutation({
    mutationFn: async (providerId: string) => api.POST('/api/v1/auth/unlink-account', { body: { providerId } }),
    onSuccess: async () => {
      await renewAccount();
      sayDone(said.providers.unlinked);
    },
    onError: sayFailed,
  });
  const link = useMutation({
    mutationFn: async (providerId: string) =>
      answerOf(auth.oauth2.link({ providerId, callbackURL: '/account', errorCallbackURL: '/account' })),
    onSuccess: ({ url }) => location.assign(url),
    onError: sayFailed,
  });
  const nameOf = (provider: string) => words.signIn.providers[provider] ?? provider;
  const open = offered.data?.filter((each) => !linked.data?.some(({ providerId }) => providerId === each)) ?? [];
  return (
    <Section
      id="linked-title"
      title={said.providers.title}
      asked={{ ...linked, data: offered.isLoading ? undefined : linked.data }}
      empty={() => undefined}
      form={<ProviderFailure title={said.providers.failedTitle} code={route.useSearch().error} />}
    >
      {(list) => (
        <>
          {list.length === 0 ? <p className="quiet">{said.providers.none}</p> : null}
          <ul className="rows">
            {list.map(({ id, providerId, createdAt }) => (
              <li key={id}>
                <div>
                  <h3>{nameOf(providerId)}</h3>
                  <p className="small quiet">{said.providers.since(momentText(createdAt))}</p>
                </div>
                <SendButton
                  className="button danger"
                  aria-label={said.providers.unlinkLabel(nameOf(providerId))}
                  isSending={unlink.isPending}
                  onClick={() => unlink.mutate(providerId)}
                >
                  {said.providers.unlink}
                </SendButton>
              </li>
            ))}
          </ul>
          {open.length === 0 ? null : (
            <div className="inline">
              {open.map((each) => (
                <SendButton key={each} isSending={link.isPending} onClick={() => link.mutate(each)}>
                  {said.providers.link(nameOf(each))}
                </SendButton>
              ))}
            </div>
          )}
        </>
      )}
    </Section>
  );
}

function ActivityPanel() {
  const activity = useQuery(activityQuery);
  return (
    <Section
      id="activity-title"
      title={said.activity.title}
      asked={activity}
      empty={(list) => (list.length === 0 ? said.activity.none : undefined)}
    >
      {(list) => (
        <ul className="rows tight">
          {list.map(({ id, action, at }) => (
            <li key={id}>
              {EVENTS[action] === undefined ? <code>{action}</code> : <span>{EVENTS[action]}</span>}
              <time className="small quiet" dateTime={at} title={momentText(at)}>
                {agoText(at)}
              </time>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Everything that is one's own: profile, sessions, passkeys, keys, providers. */
export function AccountPage() {
  const { id, email } = route.useRouteContext().session.user;
  return (
    <div className="page narrow stack">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{said.title}</h1>
      </header>
      <ProfilePanel />
      <SessionsPanel />
      <PasskeysPanel />
      <KeysPanel />
      <ProvidersPanel />
      {email === null ? null : <NewsletterPanel />}
      <ActivityPanel />
      <ClosingPanel userId={id} />
    </div>
  );
}
