import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { agoText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { auditQuery, PAGE_SIZE, type AuditEvent } from './queries.ts';

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

function EventRow({ event, people }: { event: AuditEvent; people: ReadonlyMap<string, string> }) {
  const { at, action, actorId, subjectId, requestId, details } = event;
  const nameOf = (id: string) => people.get(id) ?? said.unknown;
  return (
    <li>
      <div>
        <p className="facts">
          <code>{action}</code>
          <Resource event={event} />
        </p>
        <p className="small quiet facts">
          <time dateTime={at} title={momentText(at)}>
            {agoText(at)}
          </time>
          <span>{said.by(actorId === null ? said.service : nameOf(actorId))}</span>
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

/** Everything that happened in an organization, newest first. */
export function AuditPage() {
  const { organization: id } = route.useParams();
  const { page = 1 } = route.useSearch();
  const { data, error, refetch } = useQuery(auditQuery(id, page));
  return (
    <section className="panel" aria-labelledby="audit">
      <h2 id="audit">{said.title}</h2>
      <p className="quiet">{said.lead}</p>
      <Problem error={error} retry={() => void refetch()} />
      {data === undefined ? (
        error === null ? (
          <p className="quiet">{words.waiting}</p>
        ) : null
      ) : (
        <>
          {data.events.length === 0 ? <p className="quiet">{said.none}</p> : null}
          <ul className="rows tight">
            {data.events.map((event) => (
              <EventRow key={event.id} event={event} people={data.people} />
            ))}
          </ul>
          <nav className="inline" aria-label={words.home.pages}>
            {page > 1 ? (
              <Link className="button" to="/organizations/$organization/audit" params={{ organization: id }} search={{ page: page - 1 }}>
                {words.home.previous}
              </Link>
            ) : null}
            {page * PAGE_SIZE < data.total ? (
              <Link className="button" to="/organizations/$organization/audit" params={{ organization: id }} search={{ page: page + 1 }}>
                {words.home.next}
              </Link>
            ) : null}
          </nav>
        </>
      )}
    </section>
  );
}
