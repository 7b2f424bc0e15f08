import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { HomeField } from '../organizations/home-field.tsx';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField, SelectField, TextField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { TYPES } from './search.ts';
import { registerDevice, registerDevices, type InstrumentType, type Registered } from './writes.ts';

const said = words.devices.new;

const INSTRUMENTS = TYPES.filter((type) => type !== 'mobile');
const MOST_AT_ONCE = 100;

const serialsOf = (text: string) => [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '');

interface Typed {
  serials: string[];
  deviceType: InstrumentType;
  name: string;
  organizationId: string;
  group: string;
}

/** Registers one device, or many of a type; answers those that were refused, and where to go on. */
async function register({ serials, deviceType, name, organizationId, group }: Typed) {
  const owner = organizationId === '' ? {} : { organizationId };
  const [serialNumber = ''] = serials;
  if (serials.length > 1) {
    const named = group.trim() === '' ? {} : { group: { name: group.trim() } };
    const answer = await registerDevices({ devices: serials.map((each) => ({ serialNumber: each })), deviceType, ...owner, ...named });
    return { deviceId: null, answer };
  }
  const called = name.trim() === '' ? {} : { name: name.trim() };
  return { deviceId: (await registerDevice({ serialNumber, deviceType, ...called, ...owner })).id, answer: null };
}

function Refused({ answer: { devices, groupError } }: { answer: Registered }) {
  const refused = devices.filter(({ error }) => error !== null);
  if (refused.length === 0 && groupError === null) return null;
  return (
    <div className="notice problem" role="alert">
      {refused.length === 0 ? null : <p>{said.refused}</p>}
      <ul className="small">
        {refused.map(({ serialNumber, error }) => (
          <li key={serialNumber}>{words.devices.group.refusal(serialNumber, error ?? '')}</li>
        ))}
        {groupError === null ? null : <li>{groupError}</li>}
      </ul>
    </div>
  );
}

/** Registers devices. What was typed stays until they are there. */
export function RegisterPage() {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const serials = serialsOf(text);
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: register,
    onSuccess: async ({ deviceId, answer }) => {
      const good = answer === null ? 1 : answer.devices.filter((each) => each.device !== null).length;
      if (deviceId !== null) await navigate({ to: '/devices/$device', params: { device: deviceId }, ignoreBlocker: true });
      else if (answer?.devices.every((each) => each.error === null) && answer.groupError === null)
        await navigate({
          ...(answer.groupId === null ? { to: '/devices' } : { to: '/devices/groups/$group', params: { group: answer.groupId } }),
          ignoreBlocker: true,
        });
      // said sooner, it would stand above a form that asks before it is left
      if (good > 0) sayDone(said.done(good));
    },
  });
  const submit = ({ type = 'generic', name = '', organization = '', group = '' }: Fields) =>
    mutate({ serials, deviceType: INSTRUMENTS.find((each) => each === type) ?? 'generic', name, organizationId: organization, group });
  return (
    <div className="page narrow stack">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <p className="small">
          <Link to="/devices">{words.devices.device.back}</Link>
        </p>
        <h1>{said.title}</h1>
        <p className="quiet">{said.lead}</p>
      </header>
      <Form className="panel" send={submit}>
        <KeepWritten />
        <SelectField id="new-type" label={words.devices.type} name="type">
          <Options texts={INSTRUMENTS.map((type) => [type, words.devices.types[type]])} />
        </SelectField>
        <TextField
          id="new-serials"
          label={said.serials}
          hint={said.serialsHint}
          required
          rows={Math.min(8, Math.max(1, text.split('\n').length))}
          onChange={(event) => setText(event.target.value)}
        />
        {serials.length > 1 ? (
          <InputField id="new-group" label={said.group} hint={said.groupHint} name="group" maxLength={255} autoComplete="off" />
        ) : (
          <InputField id="new-name" label={said.name} hint={said.nameHint} name="name" maxLength={255} autoComplete="off" />
        )}
        <HomeField id="new-organization" label={said.organization} personal={said.personal} />
        <Problem error={error} />
        {data?.answer ? <Refused answer={data.answer} /> : null}
        <p>
          <SendButton
            type="submit"
            className="button primary"
            isSending={isPending}
            isIdle={serials.length === 0 || serials.length > MOST_AT_ONCE}
          >
            {said.submit(serials.length)}
          </SendButton>
        </p>
      </Form>
    </div>
  );
}
