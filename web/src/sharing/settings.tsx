import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { experimentQuery } from '../experiments/queries.ts';
import { organizationsQuery } from '../organizations/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField, SelectField, TextField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { SettingsForm } from '../ui/settings-form.tsx';
import { words } from '../words.ts';
import { PlacesPanel } from './places.tsx';
import { changeExperiment, moveResource, openToAll, removeExperiment, renewExperiments } from './writes.ts';
import './sharing.css';

const route = getRouteApi('/guarded/experiments/$id/settings');
const said = words.sharing.experiment;

function TextPanel({ id }: { id: string }) {
  const { experiment, tag } = useSuspenseQuery(experimentQuery(id)).data;
  const { name, description, anonymizeContributors } = experiment;
  return (
    <section className="panel" aria-labelledby="text">
      <h2 id="text">{said.text}</h2>
      <SettingsForm
        stored={{ name, description, anonymizeContributors }}
        tag={tag}
        read={({ name: wanted = '', description: text = '', anonymize }) => ({
          name: wanted,
          description: text.trim() === '' ? null : text,
          anonymizeContributors: anonymize !== undefined,
        })}
        save={(over, patch) => changeExperiment(id, over, patch)}
        says={said.save}
        done={said.saved}
      >
        <InputField
          id="experiment-name"
          label={said.name}
          name="name"
          required
          maxLength={255}
          pattern=".*\S.*"
          autoComplete="off"
          defaultValue={name}
        />
        <TextField
          id="experiment-description"
          label={said.description}
          name="description"
          rows={5}
          maxLength={100_000}
          defaultValue={description ?? ''}
        />
        <label className="check">
          <input type="checkbox" name="anonymize" defaultChecked={anonymizeContributors} />
          {said.anonymize}
        </label>
      </SettingsForm>
    </section>
  );
}

function VisibilityPanel({ id }: { id: string }) {
  const { experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const isPublic = experiment.visibility === 'public';
  return (
    <section className="panel" aria-labelledby="visibility">
      <h2 id="visibility">{said.visibility}</h2>
      <p>{isPublic ? said.isPublic : said.isPrivate}</p>
      {isPublic ? null : (
        <p>
          <AskFirst
            action={said.open}
            question={said.openAsk}
            consequence={said.openText}
            perform={async () => {
              await openToAll(id);
              sayDone(said.opened);
            }}
          />
        </p>
      )}
    </section>
  );
}

function StatePanel({ id }: { id: string }) {
  const { experiment, tag } = useSuspenseQuery(experimentQuery(id)).data;
  const navigate = useNavigate();
  const isArchived = experiment.status === 'archived';
  const reopen = useMutation({
    mutationFn: () => changeExperiment(id, tag, { status: 'active' }),
    onSuccess: () => sayDone(said.reopened),
  });
  return (
    <section className="panel" aria-labelledby="state">
      <h2 id="state">{said.state}</h2>
      <p>{isArchived ? said.isArchived : said.isOpen}</p>
      <div className="inline">
        {isArchived ? (
          <SendButton className="button primary" isSending={reopen.isPending} onClick={() => reopen.mutate()}>
            {said.reopen}
          </SendButton>
        ) : (
          <AskFirst
            action={said.archive}
            question={said.archiveAsk}
            consequence={said.archiveText}
            isDangerous={false}
            perform={async () => {
              await changeExperiment(id, tag, { status: 'archived' });
              sayDone(said.archived);
            }}
          />
        )}
        <AskFirst
          action={said.remove}
          question={said.removeAsk(experiment.name)}
          consequence={said.removeText}
          perform={async () => {
            await removeExperiment(id);
            await navigate({ to: '/', ignoreBlocker: true });
            await renewExperiments();
            sayDone(said.removed);
          }}
        />
      </div>
      <Problem error={reopen.error} />
    </section>
  );
}

function MovePanel({ id }: { id: string }) {
  const { experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const organizations = useQuery(organizationsQuery);
  const [target, setTarget] = useState('');
  const open = organizations.data?.filter((each) => each.id !== experiment.organizationId) ?? [];
  const chosen = open.find((each) => each.id === target) ?? open[0];
  return (
    <section className="panel" aria-labelledby="move">
      <h2 id="move">{said.move}</h2>
      <Problem error={organizations.error} />
      {chosen === undefined ? (
        <p className="quiet">{organizations.isPending ? words.waiting : said.moveNone}</p>
      ) : (
        <div className="inline">
          <SelectField id="move-to" label={said.moveTo} value={chosen.id} onChange={(event) => setTarget(event.target.value)}>
            <Options texts={open.map((each) => [each.id, each.isPersonal ? said.personal : each.name])} />
          </SelectField>
          <AskFirst
            action={said.move}
            question={said.moveAsk(chosen.isPersonal ? said.personal : chosen.name)}
            consequence={said.moveText}
            perform={async () => {
              await moveResource({ resourceType: 'experiment', id }, chosen.id);
              sayDone(said.moved);
            }}
          />
        </div>
      )}
    </section>
  );
}

/** What an experiment is called, who finds it, its state, and where it belongs. */
export function SettingsPage() {
  const { id } = route.useParams();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const isOpen = experiment.status !== 'archived';
  return (
    <div className="sharing">
      <title>{`${words.sharing.settings} · ${experiment.name} · ${words.name}`}</title>
      {capabilities.canManage ? (
        <>
          <div className="stack">
            {isOpen ? <TextPanel id={id} /> : null}
            {isOpen ? <PlacesPanel id={id} /> : null}
            {isOpen ? <VisibilityPanel id={id} /> : null}
            {isOpen ? null : <StatePanel id={id} />}
          </div>
          <div className="stack">
            {isOpen ? <StatePanel id={id} /> : null}
            {isOpen && capabilities.canTransfer ? <MovePanel id={id} /> : null}
          </div>
        </>
      ) : (
        <p className="quiet">{words.problem.advice[403]}</p>
      )}
    </div>
  );
}
