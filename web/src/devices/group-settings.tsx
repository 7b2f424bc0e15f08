import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { resetOnceTaken, useBegun } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { renewDevices, type GroupDetail } from './queries.ts';
import { changeGroup, removeGroup } from './writes.ts';

const said = words.devices.group;

/** Changes what a group is called and is for, or deletes it. */
export function GroupSettingsPanel({ group, tag }: { group: GroupDetail; tag: string }) {
  const navigate = useNavigate();
  const begun = useBegun(tag, { name: group.name, description: group.description });
  const change = useMutation({
    mutationFn: (body: { name: string; description: string | null }) => changeGroup(group.id, begun.tag, body),
    onSuccess: () => {
      begun.end();
      sayDone(said.saved);
    },
  });
  const submit = ({ name = '', description = '' }: Fields, form: HTMLFormElement) =>
    change.mutate({ name, description: description.trim() === '' ? null : description.trim() }, { onSuccess: resetOnceTaken(form) });
  return (
    <section className="panel" aria-labelledby="group-settings">
      <h2 id="group-settings">{said.change}</h2>
      <Form className="stack" send={submit} onChange={begun.begin}>
        <KeepWritten />
        <InputField
          id="group-name"
          label={said.name}
          name="name"
          required
          maxLength={255}
          pattern=".*\S.*"
          defaultValue={group.name}
          autoComplete="off"
        />
        <InputField
          id="group-description"
          label={said.description}
          name="description"
          maxLength={2000}
          defaultValue={group.description ?? ''}
          autoComplete="off"
        />
        <Problem error={change.error} />
        <div className="inline">
          <SendButton type="submit" isSending={change.isPending}>
            {said.save}
          </SendButton>
          <AskFirst
            action={said.remove}
            question={said.removeAsk(group.name)}
            consequence={said.removeText}
            perform={async () => {
              await removeGroup(group.id);
              await navigate({ to: '/devices/groups', ignoreBlocker: true });
              await renewDevices();
              sayDone(said.removed);
            }}
          />
        </div>
      </Form>
    </section>
  );
}
