import { useNavigate } from '@tanstack/react-router';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField, TextField } from '../ui/field.tsx';
import { SettingsForm } from '../ui/settings-form.tsx';
import { words } from '../words.ts';
import type { Kind } from './kinds.ts';
import { publish, removeListed, type Shared } from './queries.ts';

const said = words.library;

type Named = Pick<Shared, 'name' | 'description'>;

interface AboutProps {
  kind: Kind;
  item: Shared;
  /** The tag of its version. */
  tag: string;
  change: (tag: string, patch: Named) => Promise<unknown>;
}

/** What something is called and is for, who may read it, and its deletion. */
export function AboutPanel({ kind, item, tag, change }: AboutProps) {
  const { id, name, description, visibility, capabilities } = item;
  const navigate = useNavigate();
  return (
    <section className="panel" aria-labelledby="about">
      <h2 id="about">{said.about}</h2>
      {capabilities?.canUpdate === true ? (
        <SettingsForm
          stored={{ name, description }}
          tag={tag}
          read={({ name: wanted = '', description: text = '' }) => ({ name: wanted, description: text === '' ? null : text })}
          save={change}
          says={said.save}
          done={said.saved}
        >
          <InputField
            id="about-name"
            label={said.name}
            name="name"
            required
            pattern=".*\S.*"
            maxLength={255}
            defaultValue={name}
            autoComplete="off"
          />
          <TextField
            id="about-text"
            label={said.description}
            name="description"
            rows={3}
            maxLength={100_000}
            defaultValue={description ?? ''}
          />
        </SettingsForm>
      ) : (
        <p className={description === null ? 'quiet' : 'library-name'}>{description ?? said.noDescription}</p>
      )}
      {capabilities?.canManage === true ? (
        <div className="inline">
          {visibility === 'private' ? (
            <AskFirst
              action={said.publish}
              consequence={said.publishAsk}
              isDangerous={false}
              perform={async () => {
                await publish(kind, id);
                sayDone(said.published);
              }}
            />
          ) : null}
          <AskFirst
            action={said.remove}
            consequence={said.removeAsk}
            perform={async () => {
              await removeListed(kind, id, tag);
              sayDone(said.removed);
              await navigate({ to: '/library/$kind', params: { kind }, ignoreBlocker: true });
            }}
          />
        </div>
      ) : null}
    </section>
  );
}
