import { useMutation } from '@tanstack/react-query';
import { api } from '../api.ts';
import { sayDone } from '../shell/toasts.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { takeFocus } from '../ui/focus.ts';
import { Form, type Fields } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { SaveOrCancel } from '../ui/save-or-cancel.tsx';
import { words } from '../words.ts';
import { renewAccount, type Key } from './queries.ts';

const said = words.account.keys;
const AS_NOW = 'as-now';

/** Which end of a key a choice means: its own, none, or so many seconds from now. */
const endOf = (choice: string) => (choice === AS_NOW ? {} : { expiresIn: choice === '' ? null : Number(choice) });

/** Renames a key, turns it off or on, or sets when it ends. */
export function KeyChange({ apiKey: { id, name, enabled }, close }: { apiKey: Key; close: () => void }) {
  const change = useMutation({
    mutationFn: async (fields: Fields) =>
      api.POST('/api/v1/auth/api-key/update', {
        body: { keyId: id, name: fields['name'] ?? '', enabled: fields['state'] === 'active', ...endOf(fields['ends'] ?? AS_NOW) },
      }),
    onSuccess: async () => {
      await renewAccount();
      sayDone(said.changed);
    },
  });
  return (
    <Form
      className="stack"
      aria-label={said.changeLabel(name)}
      send={(fields, form) => change.mutate(fields, { onSuccess: resetOnceTaken(form, close) })}
    >
      <KeepWritten />
      <div className="inline">
        <InputField ref={takeFocus} id={`${id}-name`} label={said.name} name="name" required maxLength={32} defaultValue={name} />
        <SelectField id={`${id}-state`} label={said.state} name="state" defaultValue={enabled ? 'active' : 'off'}>
          <Options texts={Object.entries(said.switches)} />
        </SelectField>
        <SelectField id={`${id}-ends`} label={said.ends} name="ends" defaultValue={AS_NOW}>
          <Options texts={[[AS_NOW, said.endsAsNow], ...Object.entries(said.endingsFromNow)]} />
        </SelectField>
      </div>
      <SaveOrCancel change={change} save={said.save} close={close} />
    </Form>
  );
}
