import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField, SelectField, TextField } from '../ui/field.tsx';
import { type Fields, Form, SendLine } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';
import { blockersQuery, organizationQuery, renewOrganization, type Organization } from './queries.ts';
import { changeOrganization, removeOrganization, type OrganizationChanges } from './writes.ts';

const route = getRouteApi('/guarded/organizations/$organization/settings');
const said = words.organizations.settings;
const TYPES = ['research_institute', 'non_profit', 'private_company', 'government_agency', 'university'] as const;

const textOr = (text: string | undefined) => (text === undefined || text.trim() === '' ? null : text.trim());

function TextForm({ organization }: { organization: Organization }) {
  const { id, name, description, website, location, type, visibility } = organization;
  const change = useMutation({
    mutationFn: (data: OrganizationChanges) => changeOrganization(id, data),
    onSuccess: () => sayDone(said.saved),
  });
  const submit = (fields: Fields, form: HTMLFormElement) => {
    const changes = {
      name: fields['name'] ?? name,
      description: textOr(fields['description']),
      website: textOr(fields['website']),
      location: textOr(fields['location']),
      type: TYPES.find((each) => each === fields['type']) ?? null,
      visibility: fields['visibility'] === 'public' ? 'public' : 'private',
    } as const;
    change.mutate(changes, { onSuccess: resetOnceTaken(form) });
  };
  return (
    <Form className="panel" send={submit} aria-label={said.title}>
      <KeepWritten />
      <InputField
        id="organization-name"
        label={words.organizations.name}
        name="name"
        required
        maxLength={255}
        defaultValue={name}
        autoComplete="off"
      />
      <TextField
        id="organization-description"
        label={said.description}
        name="description"
        rows={3}
        maxLength={10_000}
        defaultValue={description ?? ''}
      />
      <div className="inline">
        <InputField id="organization-website" label={said.website} type="url" name="website" maxLength={255} defaultValue={website ?? ''} />
        <InputField id="organization-location" label={said.location} name="location" maxLength={1000} defaultValue={location ?? ''} />
      </div>
      <div className="inline">
        <SelectField id="organization-type" label={said.type} name="type" key={type} defaultValue={type ?? ''}>
          <Options texts={(['', ...TYPES] as const).map((each) => [each, said.types[each]])} />
        </SelectField>
        <SelectField id="organization-visibility" label={said.visibility} name="visibility" key={visibility} defaultValue={visibility}>
          <Options texts={(['private', 'public'] as const).map((each) => [each, said.visibilities[each]])} />
        </SelectField>
      </div>
      <SendLine sent={change} says={words.organizations.settings.save} />
    </Form>
  );
}

function RemovePanel({ organization: { id, name } }: { organization: Organization }) {
  const navigate = useNavigate();
  const blockers = useQuery(blockersQuery(id));
  return (
    <section className="panel" aria-labelledby="remove">
      <h2 id="remove">{said.remove}</h2>
      <Problem error={blockers.error} />
      {blockers.data === undefined ? null : blockers.data.length > 0 ? (
        <>
          <p>{said.blocked}</p>
          <ul>
            {blockers.data.map(({ resourceType, count }) => (
              <li key={resourceType}>{said.blocker(count, resourceType)}</li>
            ))}
          </ul>
        </>
      ) : (
        <p>
          <AskFirst
            action={said.remove}
            question={said.removeAsk(name)}
            consequence={said.removeText}
            perform={async () => {
              await removeOrganization(id);
              await navigate({ to: '/organizations', ignoreBlocker: true });
              await renewOrganization(id);
              sayDone(said.removed);
            }}
          />
        </p>
      )}
    </section>
  );
}

/** What an organization says of itself, and its deletion. */
export function OrganizationSettingsPage() {
  const { organization: id } = route.useParams();
  const organization = useSuspenseQuery(organizationQuery(id)).data;
  if (organization.role !== 'owner') return <p className="quiet">{words.organizations.onlyAdmins}</p>;
  return (
    <div className="organization">
      <TextForm organization={organization} />
      <RemovePanel organization={organization} />
    </div>
  );
}
