import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api } from '../api.ts';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { takeFocus, takeFocusLeft } from '../ui/focus.ts';
import { Form } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { Options } from '../ui/options.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { KeyChange } from './key-change.tsx';
import { keysQuery, renewAccount, type Key } from './queries.ts';

const said = words.account.keys;

function stateOf({ revokedAt, expiresAt, enabled }: Key): keyof typeof said.states {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return 'expired';
  return enabled ? 'active' : 'off';
}

const atOr = (at: string | null) => (at === null ? said.never : momentText(at));

function KeyRow({ apiKey: key }: { apiKey: Key }) {
  const [isOpen, setIsOpen] = useState<boolean>();
  const revoke = async () => {
    await api.POST('/api/v1/auth/api-key/delete', { body: { keyId: key.id } });
    await renewAccount();
    sayDone(said.revoked);
  };
  if (isOpen)
    return (
      <li>
        <KeyChange apiKey={key} close={() => setIsOpen(false)} />
      </li>
    );
  return (
    <li>
      <div>
        <h3>
          {key.name}{' '}
          <code>
            {key.start}…{key.lastFour}
          </code>{' '}
          <span className={`tag ${stateOf(key) === 'active' ? 'good' : ''}`}>{said.states[stateOf(key)]}</span>
        </h3>
        <p className="small quiet">{said.facts(momentText(key.createdAt), atOr(key.lastRequest), atOr(key.expiresAt))}</p>
      </div>
      {key.revokedAt === null ? (
        <div className="inline">
          <button
            ref={isOpen === false ? takeFocusLeft : undefined}
            type="button"
            className="button"
            aria-label={said.changeLabel(key.name)}
            onClick={() => setIsOpen(true)}
          >
            {said.change}
          </button>
          <AskFirst
            action={said.revoke}
            label={said.revokeLabel(key.name)}
            question={`${said.revokeLabel(key.name)}?`}
            consequence={said.revokeText}
            perform={revoke}
          />
        </div>
      ) : null}
    </li>
  );
}

/** API keys: make, see once, change, revoke. */
export function KeysPanel() {
  const keys = useQuery(keysQuery);
  const make = useMutation({
    mutationFn: async ({ name = '', expiresIn = '' }: Record<string, string | undefined>) =>
      bodyOf(api.POST('/api/v1/auth/api-key/create', { body: { name, expiresIn: expiresIn === '' ? null : Number(expiresIn) } })),
    onSuccess: renewAccount,
  });
  return (
    <Section
      id="keys-title"
      title={said.title}
      asked={keys}
      empty={(list) => (list.length === 0 ? said.none : undefined)}
      form={
        <>
          <Form className="inline" send={(fields, form) => make.mutate(fields, { onSuccess: resetOnceTaken(form) })}>
            <InputField id="key-name" label={said.newName} name="name" required maxLength={32} />
            <SelectField id="key-expiry" label={said.ends} name="expiresIn" defaultValue="2592000">
              <Options texts={Object.entries(said.endings)} />
            </SelectField>
            <SendButton type="submit" className="button primary" isSending={make.isPending}>
              {said.make}
            </SendButton>
          </Form>
          <Problem error={make.error} />
          {make.data === undefined ? null : (
            <div key={make.data.key} className="notice good" role="status">
              <p>{said.made}</p>
              <p>
                <code id="new-key-value" tabIndex={-1} ref={takeFocus}>
                  {make.data.key}
                </code>
              </p>
            </div>
          )}
        </>
      }
    >
      {(list) => (
        <ul className="rows" id="keys">
          {list.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      )}
    </Section>
  );
}
