import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Field, SelectField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { useTyped } from '../ui/typed.ts';
import { words } from '../words.ts';
import { ACTION_GROUPS, actionOf } from './actions.ts';
import { membersQuery, type AuditFilters } from './queries.ts';
import type { AuditSearch } from './search.ts';

const said = words.organizations.audit.filters;

/** The moment at which a day ends, in the time zone of the browser. */
function endOf(day: string): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** The filters that the service is asked with. Days begin and end in the time zone of the browser. */
export function filtersOf({ actor, action, resource, from, to }: AuditSearch): AuditFilters {
  const known = actionOf(action);
  return {
    ...(actor === undefined ? {} : { actorId: actor }),
    ...(known === undefined ? {} : { action: known }),
    ...(resource === undefined ? {} : { resourceId: resource }),
    ...(from === undefined ? {} : { from: new Date(`${from}T00:00:00`).toISOString() }),
    ...(to === undefined ? {} : { to: endOf(to) }),
  };
}

/** A day to choose. While a year is typed, the first three digits of it are years of their own, which nobody means. */
function DayInput({ id, value, take }: { id: string; value: string | undefined; take: (day: string | undefined) => void }) {
  const [text, type] = useTyped(value ?? '');
  return (
    <input
      id={id}
      className="input"
      type="date"
      value={text}
      onChange={({ target }) => {
        type(target.value);
        if (!target.value.startsWith('0')) take(target.value === '' ? undefined : target.value);
      }}
    />
  );
}

interface AuditFormProps {
  id: string;
  search: AuditSearch;
  /** Names of people in the events that are shown. */
  people: ReadonlyMap<string, string>;
  change: (next: Partial<AuditSearch>) => void;
}

/** Which events of the log are shown. Each choice counts at once, and is in the address. */
export function AuditForm({ id, search, people, change }: AuditFormProps) {
  const { actor, action, resource, from, to } = search;
  const members = useQuery(membersQuery(id)).data ?? [];
  const names = new Map(members.map(({ userId, user }) => [userId, user.name]));
  if (actor !== undefined && !names.has(actor)) names.set(actor, people.get(actor) ?? words.organizations.audit.unknown);
  const isNarrowed = [actor, action, resource, from, to].some((each) => each !== undefined);
  const given = (text: string) => (text === '' ? undefined : text);
  return (
    <div className="stack" role="group" aria-label={said.label}>
      <div className="inline audit-filters">
        <SelectField
          id="audit-actor"
          label={said.who}
          value={actor ?? ''}
          onChange={({ target }) => change({ actor: given(target.value) })}
        >
          <option value="">{said.anybody}</option>
          <Options texts={[...names]} />
        </SelectField>
        <SelectField
          id="audit-action"
          label={said.what}
          value={actionOf(action) ?? ''}
          onChange={({ target }) => change({ action: given(target.value) })}
        >
          <option value="">{said.anything}</option>
          {ACTION_GROUPS.map(({ kind, actions }) => (
            <optgroup key={kind} label={kind}>
              <Options texts={actions.map((each) => [each, each])} />
            </optgroup>
          ))}
        </SelectField>
        <Field id="audit-from" label={said.from}>
          <DayInput id="audit-from" value={from} take={(day) => change({ from: day })} />
        </Field>
        <Field id="audit-to" label={said.to}>
          <DayInput id="audit-to" value={to} take={(day) => change({ to: day })} />
        </Field>
        {isNarrowed ? (
          <Link className="button" to="/organizations/$organization/audit" params={{ organization: id }} search={{}}>
            {said.all}
          </Link>
        ) : null}
      </div>
      {resource === undefined ? null : <p className="small quiet">{said.resource}</p>}
    </div>
  );
}
