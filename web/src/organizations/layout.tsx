import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useLocation } from '@tanstack/react-router';
import { words } from '../words.ts';
import { organizationQuery, type Organization } from './queries.ts';
import './organizations.css';

const route = getRouteApi('/guarded/organizations/$organization');
const said = words.organizations;

/** Whether a role may change who is in an organization and what it tells others. */
export const isAdmin = ({ role }: Pick<Organization, 'role'>): boolean => role === 'owner' || role === 'admin';

/** What stands above every page of an organization. */
export function OrganizationLayout() {
  const { organization: id } = route.useParams();
  const organization = useSuspenseQuery(organizationQuery(id)).data;
  const { name, description, role } = organization;
  const part = useLocation({ select: ({ pathname }) => pathname.split('/')[3] ?? 'members' });
  const section = Object.entries(said.sections).find(([key]) => key === part)?.[1];
  return (
    <div className="page">
      <title>{[...(section === undefined ? [] : [section]), name, words.name].join(' · ')}</title>
      <header className="page-head">
        <p className="small">
          <Link to="/organizations">{said.all}</Link>
        </p>
        <h1>{name}</h1>
        {description === null || description === '' ? null : <p className="quiet">{description}</p>}
        <nav className="choices" aria-label={said.sectionsLabel}>
          {role === null ? null : (
            <>
              <Link className="choice" to="/organizations/$organization" params={{ organization: id }} activeOptions={{ exact: true }}>
                {said.sections.members}
              </Link>
              <Link className="choice" to="/organizations/$organization/teams" params={{ organization: id }}>
                {said.sections.teams}
              </Link>
            </>
          )}
          <Link className="choice" to="/organizations/$organization/resources" params={{ organization: id }}>
            {said.sections.resources}
          </Link>
          {isAdmin(organization) ? (
            <>
              <Link className="choice" to="/organizations/$organization/webhooks" params={{ organization: id }}>
                {said.sections.webhooks}
              </Link>
              <Link className="choice" to="/organizations/$organization/audit" params={{ organization: id }}>
                {said.sections.audit}
              </Link>
            </>
          ) : null}
          {role === 'owner' ? (
            <Link className="choice" to="/organizations/$organization/settings" params={{ organization: id }}>
              {said.sections.settings}
            </Link>
          ) : null}
        </nav>
      </header>
      <Outlet />
    </div>
  );
}
