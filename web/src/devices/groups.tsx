import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { HomeField } from '../organizations/home-field.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField } from '../ui/field.tsx';
import { type Fields, Form, SendLine } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Pages } from '../ui/pages.tsx';
import { words } from '../words.ts';
import { groupsQuery, PAGE_SIZE } from './queries.ts';
import { makeGroup } from './writes.ts';
import './devices.css';

const route = getRouteApi('/guarded/devices/groups');
const said = words.devices.group;

function NewGroupPanel() {
  const make = useMutation({ mutationFn: makeGroup, onSuccess: () => sayDone(said.made) });
  const submit = ({ name = '', description = '', organization = '' }: Fields, form: HTMLFormElement) =>
    make.mutate(
      {
        name,
        ...(description.trim() === '' ? {} : { description: description.trim() }),
        ...(organization === '' ? {} : { organizationId: organization }),
      },
      { onSuccess: resetOnceTaken(form) },
    );
  return (
    <section className="panel" aria-labelledby="new-group-title">
      <h2 id="new-group-title">{said.new}</h2>
      <Form className="stack" send={submit}>
        <KeepWritten />
        <InputField id="group-name" label={said.name} name="name" required maxLength={255} pattern=".*\S.*" autoComplete="off" />
        <InputField id="group-description" label={said.description} name="description" maxLength={2000} autoComplete="off" />
        <HomeField id="group-organization" label={words.devices.new.organization} personal={words.devices.new.personal} />
        <SendLine sent={make} says={said.submit} />
      </Form>
    </section>
  );
}

/** Groups of devices that are one's own or shared. */
export function GroupsPage() {
  const asked = route.useSearch();
  const { groups, total } = useSuspenseQuery(groupsQuery(asked)).data;
  return (
    <div className="page">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <p className="small">
          <Link to="/devices">{words.devices.device.back}</Link>
        </p>
        <h1>{said.title}</h1>
        <p className="quiet">{said.lead}</p>
      </header>
      <div className="device">
        <div className="stack">
          {total === 0 ? (
            <p className="panel quiet">{said.none}</p>
          ) : groups.length === 0 ? null : (
            <ul className="rows panel" aria-label={said.title}>
              {groups.map(({ id, name, description, memberCount }) => (
                <li key={id}>
                  <div>
                    <h2 className="device-name">
                      <Link to="/devices/groups/$group" params={{ group: id }}>
                        {name}
                      </Link>
                    </h2>
                    <p className="small quiet">{description}</p>
                  </div>
                  <span className="small quiet number">{said.facts(memberCount)}</span>
                </li>
              ))}
            </ul>
          )}
          <Pages
            page={asked.page ?? 1}
            pageSize={PAGE_SIZE}
            total={total}
            link={(page, text) => (
              <Link className="button" to="/devices/groups" search={{ ...asked, page }}>
                {text}
              </Link>
            )}
          />
        </div>
        <NewGroupPanel />
      </div>
    </div>
  );
}
