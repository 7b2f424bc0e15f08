import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { answerOf, auth } from '../shell/session.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { passkeysQuery, renewAccount, type Passkey } from './queries.ts';

const said = words.account.passkeys;

function PasskeyRow({ passkey: { id, name, createdAt } }: { passkey: Passkey }) {
  const rename = useMutation({
    mutationFn: async (next: string) => api.POST('/api/v1/auth/passkey/update-passkey', { body: { id, name: next } }),
    onSuccess: async () => {
      await renewAccount();
      sayDone(said.renamed);
    },
  });
  const remove = async () => {
    await api.POST('/api/v1/auth/passkey/delete-passkey', { body: { id } });
    sayDone(said.removed);
    await renewAccount();
  };
  const label = said.removeLabel(name ?? said.nameless);
  return (
    <li>
      <Form className="inline" send={(fields) => rename.mutate(fields['name'] ?? '')}>
        <InputField
          id={`name-${id}`}
          label={said.nameOf(dayText(createdAt))}
          name="name"
          required
          maxLength={255}
          defaultValue={name ?? ''}
        />
        <SendButton type="submit" isSending={rename.isPending}>
          {said.rename}
        </SendButton>
        <AskFirst action={said.remove} label={label} question={`${label}?`} consequence={said.removeText} perform={remove} />
      </Form>
      <Problem error={rename.error} />
    </li>
  );
}

/** Passkeys: add, rename, delete. */
export function PasskeysPanel() {
  const passkeys = useQuery(passkeysQuery);
  const add = useMutation({
    mutationFn: async (name: string) => answerOf(auth.passkey.addPasskey({ name })),
    onSuccess: async () => {
      await renewAccount();
      sayDone(said.added);
    },
  });
  const submit = (fields: Fields, form: HTMLFormElement) => add.mutate(fields['name'] ?? '', { onSuccess: resetOnceTaken(form) });
  return (
    <Section
      id="passkeys-title"
      title={said.title}
      asked={passkeys}
      empty={(list) => (list.length === 0 ? said.none : undefined)}
      form={
        <>
          <Form className="inline" send={submit}>
            <InputField id="passkey-name" label={said.newName} name="name" required maxLength={255} placeholder={said.newExample} />
            <SendButton type="submit" className="button primary" isSending={add.isPending}>
              {said.add}
            </SendButton>
          </Form>
          <Problem error={add.error} />
        </>
      }
    >
      {(list) => (
        <ul className="rows" id="passkeys">
          {list.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
    </Section>
  );
}
