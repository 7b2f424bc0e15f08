import { useNavigate } from '@tanstack/react-router';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { SettingsForm } from '../ui/settings-form.tsx';
import { words } from '../words.ts';
import { renewDevices, type GroupDetail } from './queries.ts';
import { changeGroup, removeGroup } from './writes.ts';

const said = words.devices.group;

/** Changes what a group is called and is for, or deletes it. */
export function GroupSettingsPanel({ group, tag }: { group: GroupDetail; tag: string }) {
  const navigate = useNavigate();
  const { id, name: called, description: text } = group;
  return (
    <section className="panel" aria-labelledby="group-settings">
      <h2 id="group-settings">{said.change}</h2>
      <SettingsForm
        stored={{ called, text }}
        tag={tag}
        read={({ name = '', description = '' }) => ({ name, description: description.trim() === '' ? null : description.trim() })}
        save={(over, body) => changeGroup(id, over, body)}
        says={said.save}
        done={said.saved}
        beside={
          <AskFirst
            action={said.remove}
            question={said.removeAsk(called)}
            consequence={said.removeText}
            perform={async () => {
              await removeGroup(id);
              await navigate({ to: '/devices/groups', ignoreBlocker: true });
              await renewDevices();
              sayDone(said.removed);
            }}
          />
        }
      >
        <InputField
          id="group-name"
          label={said.name}
          name="name"
          required
          maxLength={255}
          pattern=".*\S.*"
          defaultValue={called}
          autoComplete="off"
        />
        <InputField
          id="group-description"
          label={said.description}
          name="description"
          maxLength={2000}
          defaultValue={text ?? ''}
          autoComplete="off"
        />
      </SettingsForm>
    </section>
  );
}
