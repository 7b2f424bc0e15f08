import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { agoText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { Pages } from '../ui/pages.tsx';
import { words } from '../words.ts';
import { AuditForm, filtersOf } from './audit-filters.tsx';
import { auditQuery, PAGE_SIZE, type AuditEvent } from './queries.ts';
import type { AuditSearch } from './search.ts';

const route = getRouteApi('/guarded/organizations/$organization/audit');
const said = words.organizations.audit;

/** What an event was done to, as a link where the console has a page of it. */
function Resource({ event: { resourceType, resourceId } }: { event: AuditEvent }) {
  if (resourceType === null || resourceId === null) return null;
  if (resourceType === 'experiment')
    return (
      <Link to="/experiments/$id" params={{ id: resourceId }}>
        {resourceType}
      </Link>
    );
  if (resourceType === 'device')
    return (
      <Link to="/devices/$device" params={{ device: resourceId }}>
        {resourceType}
      </Link>
    );
  return <span>{resourceType}</span>;
}

interface EventProps {
  event: AuditEvent;
  people: ReadonlyMap<string, string>;
  /** Makes an address that shows only some of the events that are shown now. */
  narrow: (to: AuditSearch) => AuditSearch;
}

function EventRow({ event, people, narrow }: EventProps) {
  const { at, action, actorId, subjectId, resourceId, resourceType, requestId, details } = event;
  const { organization } = route.useParams();
  const nameOf = (id: string) => people.get(id) ?? said.unknown;
  return (
    <li>
      <div>
        <p className="facts">
          <code>{action}</code>
          <Resource event={event} />
          {resourceId === null || resourceType === null ? null : (
            <Link
              className="small"
              to="/organizations/$organization/audit"
              params={{ organization }}
              search={narrow({ resource: resourceId })}
              aria-label={said.onlyThisLabel(resourceType)}
            >
              {said.onlyThis}
            </Link>
          )}
        </p>
        <p className="small quiet facts">
          <time dateTime={at} title={momentText(at)}>
            {agoText(at)}
          </time>
          {actorId === null ? (
            <span>{said.by(said.service)}</span>
          ) : (
            <Link
              to="/organizations/$organization/audit"
              params={{ organization }}
              search={narrow({ actor: actorId })}
              title={said.onlyBy(nameOf(actorId))}
            >
              {said.by(nameOf(actorId))}
            </Link>
          )}
          {subjectId === null ? null : <span>{said.about(nameOf(subjectId))}</span>}
        </p>
        <details className="small">
          <summary>{said.details}</summary>
          <pre className="sent" tabIndex={0}>
            {JSON.stringify(details, null, 2)}
          </pre>
          {requestId === null ? null : <code>{said.request(requestId)}</code>}
        </details>
      </div>
    </li>
  );
}

/** Everything that happened in an organization, newest first, or only the events that the address asks for. */
export function AuditPage() {
  const { organization: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { page = 1 } = search;
  const filters = filtersOf(search);
  const { data, error, refetch } = useQuery(auditQuery(id, page, filters));
  const narrow = (next: Partial<AuditSearch>): AuditSearch => ({ ...search, ...next, page: undefined });
  const people = data?.people ?? new Map<string, string>();
  return (
    <section className="panel" aria-labelledby="audit">
      <h2 id="audit">{said.title}</h2>
      <p className="quiet">{said.lead}</p>
      <AuditForm id={id} search={search} people={people} change={(next) => void navigate({ search: narrow(next), replace: true })} />
      <Problem error={error} retry={() => void refetch()} />
      {data === undefined ? (
        error === null ? (
          <p className="quiet">{words.waiting}</p>
        ) : null
      ) : (
        <>
          {data.total === 0 ? (
            <p className="quiet" role="status">
              {Object.keys(filters).length === 0 ? said.none : said.noneFits}
            </p>
          ) : null}
          <ul className="rows tight">
            {data.events.map((event) => (
              <EventRow key={event.id} event={event} people={people} narrow={narrow} />
            ))}
          </ul>
          <Pages
            page={page}
            pageSize={PAGE_SIZE}
            total={data.total}
            link={(to, text) => (
              <Link
                className="button"
                to="/organizations/$organization/audit"
                params={{ organization: id }}
                search={{ ...search, page: to }}
              >
                {text}
              </Link>
            )}
          />
        </>
      )}
    </section>
  );
}
