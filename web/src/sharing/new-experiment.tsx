import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { HomeField } from '../organizations/home-field.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField, TextField } from '../ui/field.tsx';
import { type Fields, Form, SendLine } from '../ui/form.tsx';
import { KeepWritten } from '../ui/leave-question.tsx';
import { words } from '../words.ts';
import { makeExperiment } from './writes.ts';

const said = words.sharing.experiment;

/** Makes an experiment. */
export function NewExperimentPage() {
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: makeExperiment,
    onSuccess: async ({ id }) => {
      await navigate({ to: '/experiments/$id', params: { id }, ignoreBlocker: true });
      sayDone(said.made);
    },
  });
  const submit = ({ name = '', description = '', organization = '' }: Fields) =>
    make.mutate({
      name,
      ...(description.trim() === '' ? {} : { description: description.trim() }),
      ...(organization === '' ? {} : { organizationId: organization }),
    });
  return (
    <div className="page narrow stack">
      <title>{`${said.new} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{said.new}</h1>
        <p className="quiet">{said.newLead}</p>
      </header>
      <Form className="panel" send={submit}>
        <KeepWritten />
        <InputField id="new-name" label={said.name} name="name" required maxLength={255} pattern=".*\S.*" autoComplete="off" />
        <TextField id="new-description" label={said.description} name="description" rows={4} maxLength={100_000} />
        <HomeField id="new-organization" label={said.organization} personal={said.personal} hint={said.organizationHint} />
        <SendLine sent={make} says={said.make} />
      </Form>
    </div>
  );
}
