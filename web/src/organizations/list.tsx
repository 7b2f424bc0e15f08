import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { toPlainLetters } from '../plain-letters.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField } from '../ui/field.tsx';
import { Form, SendLine } from '../ui/form.tsx';
import { findLastError } from '../ui/last-error.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { useTyped } from '../ui/typed.ts';
import { words } from '../words.ts';
import { foundQuery, organizationsQuery, renewOrganization } from './queries.ts';
import { askToJoin, makeOrganization, withdrawRequest } from './writes.ts';
import './organizations.css';

const route = getRouteApi('/guarded/organizations');
const said = words.organizations;
const SLUG = '[a-z0-9]+(-[a-z0-9]+)*';

/** What an organization may be called in addresses: `Blatt & Söhne` gives `blatt-sohne`. */
const slugLike = (name: string) =>
  toPlainLetters(name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '');

function NewOrganizationPanel() {
  const [named, setNamed] = useState('');
  // null until somebody writes it
  const [ownSlug, setOwnSlug] = useState<string | null>(null);
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: makeOrganization,
    onSuccess: async ({ id }) => {
      await renewOrganization(id);
      await navigate({ to: '/organizations/$organization', params: { organization: id }, ignoreBlocker: true });
      sayDone(said.made);
    },
  });
  return (
    <section className="panel" aria-labelledby="new-organization">
      <h2 id="new-organization">{said.new}</h2>
      <Form className="stack" send={({ name = '', slug = '' }) => make.mutate({ name, slug })}>
        <KeepWritten />
        <InputField
          id="organization-name"
          label={said.name}
          name="name"
          required
          maxLength={255}
          autoComplete="off"
          onChange={({ target }) => setNamed(target.value)}
        />
        <InputField
          id="organization-slug"
          label={said.slug}
          hint={said.slugHint}
          name="slug"
          required
          maxLength={63}
          pattern={SLUG}
          autoComplete="off"
          value={ownSlug ?? slugLike(named)}
          onChange={({ target }) => setOwnSlug(target.value)}
        />
        <SendLine sent={make} says={said.make} />
      </Form>
    </section>
  );
}

function OthersPanel() {
  const { search } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(foundQuery(search));
  const ask = useMutation({ mutationFn: askToJoin, onSuccess: () => sayDone(said.joinAsked) });
  const withdraw = useMutation({ mutationFn: withdrawRequest, onSuccess: () => sayDone(said.withdrawn) });
  const others = found.data?.filter(({ membershipStatus }) => membershipStatus !== 'member');
  const [typed, type] = useTyped(search ?? '');
  const submit = () => {
    const text = typed.trim();
    void navigate({ search: text === '' ? {} : { search: text } });
  };
  return (
    <Section id="others" title={said.others} asked={{ data: others, error: found.error, refetch: found.refetch }} empty={() => undefined}>
      {(list) => (
        <>
          <Form role="search" aria-label={said.others} className="inline" send={submit}>
            <InputField
              id="organization-search"
              label={said.search}
              type="search"
              maxLength={200}
              value={typed}
              onChange={({ target }) => type(target.value)}
            />
            <button type="submit" className="button">
              {said.find}
            </button>
          </Form>
          <Problem error={findLastError(ask, withdraw)} />
          {list.length === 0 ? <p className="quiet">{said.othersNone}</p> : null}
          <ul className="rows">
            {list.map(({ id, name, description, membershipStatus }) => (
              <li key={id}>
                <div>
                  <h3>
                    <Link to="/organizations/$organization/resources" params={{ organization: id }}>
                      {name}
                    </Link>
                  </h3>
                  <p className="small quiet">{description}</p>
                </div>
                {membershipStatus === 'none' ? (
                  <SendButton aria-label={said.joinLabel(name)} isSending={ask.isPending} onClick={() => ask.mutate(id)}>
                    {said.join}
                  </SendButton>
                ) : (
                  <SendButton aria-label={said.joinWithdrawLabel(name)} isSending={withdraw.isPending} onClick={() => withdraw.mutate(id)}>
                    {said.joinWithdraw}
                  </SendButton>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

/** One's own organizations, and public ones that one can ask to join. */
export function OrganizationsPage() {
  const mine = useQuery(organizationsQuery);
  return (
    <div className="page">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{said.title}</h1>
        <p className="quiet">{said.lead}</p>
      </header>
      <div className="organization">
        <div className="stack">
          <Section id="mine" title={said.mine} asked={mine} empty={(list) => (list.length === 0 ? said.none : undefined)}>
            {(list) => (
              <ul className="rows">
                {list.map(({ id, name, role, memberCount, isPersonal }) => (
                  <li key={id}>
                    <div>
                      <h3>
                        {isPersonal ? (
                          said.personal
                        ) : (
                          <Link to="/organizations/$organization" params={{ organization: id }}>
                            {name}
                          </Link>
                        )}
                      </h3>
                      <p className="small quiet">{said.facts(said.roles[role] ?? role, memberCount)}</p>
                    </div>
                  </li>
                ))}
              </ul>
            )}
          </Section>
          <OthersPanel />
        </div>
        <NewOrganizationPanel />
      </div>
    </div>
  );
}
