import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, linkOptions, type LinkOptions } from '@tanstack/react-router';
import { agoText, momentText } from '../shell/format.ts';
import { Pages } from '../ui/pages.tsx';
import { Section } from '../ui/section.tsx';
import { words } from '../words.ts';
import { PAGE_SIZE, resourcesQuery, type Resource } from './queries.ts';

const route = getRouteApi('/guarded/organizations/$organization/resources');
const said = words.organizations.resources;

/** The page of each kind of thing. */
const PAGES: Readonly<Record<Resource['type'], (id: string) => LinkOptions>> = {
  experiment: (id) => linkOptions({ to: '/experiments/$id', params: { id } }),
  macro: (macro) => linkOptions({ to: '/library/macros/$macro', params: { macro } }),
  protocol: (protocol) => linkOptions({ to: '/library/protocols/$protocol', params: { protocol } }),
  workbook: (workbook) => linkOptions({ to: '/library/workbooks/$workbook', params: { workbook } }),
  device: (device) => linkOptions({ to: '/devices/$device', params: { device } }),
  device_group: (group) => linkOptions({ to: '/devices/groups/$group', params: { group } }),
};
const KINDS = Object.keys(PAGES) as Resource['type'][];

function ResourceRow({ resource: { type, id, name, visibility, updatedAt, status } }: { resource: Resource }) {
  return (
    <li>
      <div>
        <h3 className="address">
          <Link {...PAGES[type](id)}>{name}</Link>{' '}
          {visibility === 'public' ? <span className="tag good">{words.experiment.visibility.public}</span> : null}{' '}
          {status === 'archived' ? <span className="tag">{words.experiment.status.archived}</span> : null}
        </h3>
        <p className="small quiet facts">
          <span>{said.kinds[type]}</span>
          <time dateTime={updatedAt} title={momentText(updatedAt)}>
            {said.updated(agoText(updatedAt))}
          </time>
        </p>
      </div>
    </li>
  );
}

/** What an organization owns, as far as the caller may read it, last changed first. */
export function ResourcesPage() {
  const { organization } = route.useParams();
  const { page = 1 } = route.useSearch();
  const asked = useQuery(resourcesQuery(organization, page));
  const totalOf = ({ totals }: { totals: Record<Resource['type'], number> }) => KINDS.reduce((sum, kind) => sum + totals[kind], 0);
  return (
    <Section id="resources" title={said.title} asked={asked} empty={(data) => (totalOf(data) === 0 ? said.none : undefined)}>
      {(data) => (
        <>
          <p className="quiet">
            {KINDS.filter((kind) => data.totals[kind] > 0)
              .map((kind) => said.totals[kind](data.totals[kind]))
              .join(', ')}
          </p>
          <ul className="rows tight">
            {data.resources.map((resource) => (
              <ResourceRow key={resource.id} resource={resource} />
            ))}
          </ul>
          <Pages
            page={page}
            pageSize={PAGE_SIZE}
            total={totalOf(data)}
            link={(to, text) => (
              <Link className="button" to="/organizations/$organization/resources" params={{ organization }} search={{ page: to }}>
                {text}
              </Link>
            )}
          />
        </>
      )}
    </Section>
  );
}
