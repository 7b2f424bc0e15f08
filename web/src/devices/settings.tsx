import { useNavigate } from '@tanstack/react-router';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { SettingsForm } from '../ui/settings-form.tsx';
import { words } from '../words.ts';
import { renewDevices, type DeviceDetail } from './queries.ts';
import { nameOf } from './state.tsx';
import { removeDevice, renameDevice } from './writes.ts';

const said = words.devices.device;

/** Renames a device, or removes it. */
export function SettingsPanel({ device, tag }: { device: DeviceDetail; tag: string }) {
  const navigate = useNavigate();
  return (
    <section className="panel" aria-labelledby="settings">
      <h2 id="settings">{said.settings}</h2>
      <SettingsForm
        stored={{ name: device.name }}
        tag={tag}
        read={({ name = '' }) => name.trim()}
        save={(over, name) => renameDevice(device.id, over, name)}
        says={said.rename}
        done={said.renamed}
      >
        <InputField
          id="device-name"
          label={words.devices.new.name}
          name="name"
          maxLength={255}
          defaultValue={device.name ?? ''}
          placeholder={device.serialNumber}
          autoComplete="off"
        />
      </SettingsForm>
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
