import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { resetOnceTaken, useBegun } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { renewDevices, type DeviceDetail } from './queries.ts';
import { nameOf } from './state.tsx';
import { removeDevice, renameDevice } from './writes.ts';

const said = words.devices.device;

/** Renames a device, or removes it. */
export function SettingsPanel({ device, tag }: { device: DeviceDetail; tag: string }) {
  const navigate = useNavigate();
  const begun = useBegun(tag, { name: device.name });
  const rename = useMutation({
    mutationFn: (name: string) => renameDevice(device.id, begun.tag, name),
    onSuccess: () => {
      begun.end();
      sayDone(said.renamed);
    },
  });
  return (
    <section className="panel" aria-labelledby="settings">
      <h2 id="settings">{said.settings}</h2>
      <Form
        className="inline"
        send={(fields, form) => rename.mutate(fields['name']?.trim() ?? '', { onSuccess: resetOnceTaken(form) })}
        onChange={begun.begin}
      >
        <KeepWritten />
        <InputField
          id="device-name"
          label={words.devices.new.name}
          name="name"
          maxLength={255}
          defaultValue={device.name ?? ''}
          placeholder={device.serialNumber}
          autoComplete="off"
        />
        <SendButton type="submit" isSending={rename.isPending}>
          {said.rename}
        </SendButton>
      </Form>
      <Problem error={rename.error} />
      <div>
        <AskFirst
          action={said.remove}
          question={said.removeAsk(nameOf(device))}
          consequence={said.removeText}
          perform={async () => {
            await removeDevice(device.id);
            await navigate({ to: '/devices', ignoreBlocker: true });
            await renewDevices();
            sayDone(said.removed);
          }}
        />
      </div>
    </section>
  );
}
