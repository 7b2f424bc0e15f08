import { createRoute } from '@tanstack/react-router';
import { organizationQuery } from '../organizations/queries.ts';
import { auditSearch, deliveriesSearch, organizationsSearch, resourcesSearch } from '../organizations/search.ts';
import { loadPage } from './load-page.ts';
import { guarded } from './roots.ts';

const organizations = createRoute({
  getParentRoute: () => guarded,
  path: '/organizations',
  validateSearch: organizationsSearch,
  component: loadPage(() => import('../organizations/list.tsx'), 'OrganizationsPage'),
});

const organization = createRoute({
  getParentRoute: () => guarded,
  path: '/organizations/$organization',
  loader: ({ context, params }) => context.queryClient.query({ ...organizationQuery(params.organization), staleTime: 'static' }),
  component: loadPage(() => import('../organizations/layout.tsx'), 'OrganizationLayout'),
});

const members = createRoute({
  getParentRoute: () => organization,
  path: '/',
  component: loadPage(() => import('../organizations/members.tsx'), 'MembersPage'),
});

const teams = createRoute({
  getParentRoute: () => organization,
  path: '/teams',
  component: loadPage(() => import('../organizations/teams.tsx'), 'TeamsPage'),
});

const resources = createRoute({
  getParentRoute: () => organization,
  path: '/resources',
  validateSearch: resourcesSearch,
  component: loadPage(() => import('../organizations/resources.tsx'), 'ResourcesPage'),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: auditSearch,
  component: loadPage(() => import('../organizations/audit.tsx'), 'AuditPage'),
});

const webhooks = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks',
  component: loadPage(() => import('../organizations/webhooks.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks/$webhook',
  validateSearch: deliveriesSearch,
  component: loadPage(() => import('../organizations/webhook.tsx'), 'WebhookPage'),
});

const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: loadPage(() => import('../organizations/settings.tsx'), 'OrganizationSettingsPage'),
});

export const organizationRoutes = [
  organizations,
  organization.addChildren([members, teams, resources, audit, webhooks, webhook, organizationSettings]),
] as const;
