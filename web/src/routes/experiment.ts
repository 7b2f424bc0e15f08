import type { QueryClient } from '@tanstack/react-query';
import { createRoute, redirect } from '@tanstack/react-router';
import { readChartSearch } from '../charts/search.ts';
import { dashboardSearch } from '../dashboards/search.ts';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { exportsSearch } from '../exports/search.ts';
import { metadataListSearch, metadataSearch } from '../metadata/search.ts';
import { tableSearch } from '../table/search.ts';
import { uploadsSearch } from '../upload/search.ts';
import { loadPage } from './load-page.ts';
import { guarded } from './roots.ts';

interface Asked {
  context: { queryClient: QueryClient };
  params: { id: string; table: string };
}

const experiment = createRoute({
  getParentRoute: () => guarded,
  path: '/experiments/$id',
  loader: ({ context, params }) => context.queryClient.query({ ...experimentQuery(params.id), staleTime: 'static' }),
  component: loadPage(() => import('../experiments/layout.tsx'), 'ExperimentLayout'),
});

const overview = createRoute({
  getParentRoute: () => experiment,
  path: '/',
  component: loadPage(() => import('../experiments/overview.tsx'), 'OverviewPage'),
});

/** Leads from an address with the name of a table to the one with its id. */
async function followName(to: '/experiments/$id/tables/$table' | '/experiments/$id/tables/$table/chart', { context, params }: Asked) {
  const tables = await context.queryClient.query({ ...tablesQuery(params.id), staleTime: 'static' });
  if (tables.some(({ identifier }) => identifier === params.table)) return;
  const named = tables.find(({ displayName }) => displayName === params.table);
  if (named !== undefined) throw redirect({ to, params: { ...params, table: named.identifier }, search: true, replace: true });
}

const table = createRoute({
  getParentRoute: () => experiment,
  path: '/tables/$table',
  validateSearch: tableSearch,
  loader: (asked) => followName('/experiments/$id/tables/$table', asked),
  component: loadPage(() => import('../table/page.tsx'), 'TablePage'),
});

const uploads = createRoute({
  getParentRoute: () => experiment,
  path: '/uploads',
  validateSearch: uploadsSearch,
  component: loadPage(() => import('../upload/page.tsx'), 'UploadsPage'),
});

const upload = createRoute({
  getParentRoute: () => experiment,
  path: '/uploads/$upload',
  component: loadPage(() => import('../upload/report.tsx'), 'ReportPage'),
});

const chart = createRoute({
  getParentRoute: () => experiment,
  path: '/tables/$table/chart',
  validateSearch: readChartSearch,
  loader: (asked) => followName('/experiments/$id/tables/$table/chart', asked),
  component: loadPage(() => import('../charts/page.tsx'), 'ChartPage'),
});

const charts = createRoute({
  getParentRoute: () => experiment,
  path: '/charts',
  component: loadPage(() => import('../charts/list.tsx'), 'ChartsPage'),
});

const dashboards = createRoute({
  getParentRoute: () => experiment,
  path: '/dashboards',
  component: loadPage(() => import('../dashboards/list.tsx'), 'DashboardsPage'),
});

const dashboard = createRoute({
  getParentRoute: () => experiment,
  path: '/dashboards/$dashboard',
  validateSearch: dashboardSearch,
  component: loadPage(() => import('../dashboards/page.tsx'), 'DashboardPage'),
});

const tableExports = createRoute({
  getParentRoute: () => experiment,
  path: '/exports',
  validateSearch: exportsSearch,
  component: loadPage(() => import('../exports/page.tsx'), 'ExportsPage'),
});

const experimentMacros = createRoute({
  getParentRoute: () => experiment,
  path: '/macros',
  component: loadPage(() => import('../macros/past-list.tsx'), 'PastListPage'),
});

const experimentMacro = createRoute({
  getParentRoute: () => experiment,
  path: '/macros/$macro',
  component: loadPage(() => import('../macros/past.tsx'), 'PastPage'),
});

const experimentWorkbook = createRoute({
  getParentRoute: () => experiment,
  path: '/workbook',
  component: loadPage(() => import('../workbooks/attached.tsx'), 'AttachedPage'),
});

const metadataList = createRoute({
  getParentRoute: () => experiment,
  path: '/metadata',
  validateSearch: metadataListSearch,
  component: loadPage(() => import('../metadata/list.tsx'), 'MetadataListPage'),
});

const metadataNew = createRoute({
  getParentRoute: () => experiment,
  path: '/metadata/new',
  component: loadPage(() => import('../metadata/make.tsx'), 'MakeMetadataPage'),
});

const metadata = createRoute({
  getParentRoute: () => experiment,
  path: '/metadata/$metadata',
  validateSearch: metadataSearch,
  component: loadPage(() => import('../metadata/page.tsx'), 'MetadataPage'),
});

const sharing = createRoute({
  getParentRoute: () => experiment,
  path: '/sharing',
  component: loadPage(() => import('../sharing/page.tsx'), 'SharingPage'),
});

const settings = createRoute({
  getParentRoute: () => experiment,
  path: '/settings',
  component: loadPage(() => import('../sharing/settings.tsx'), 'SettingsPage'),
});

/** An experiment and its pages. */
export const experimentRoutes = experiment.addChildren([
  overview,
  table,
  uploads,
  upload,
  chart,
  charts,
  dashboards,
  dashboard,
  tableExports,
  experimentMacros,
  experimentMacro,
  experimentWorkbook,
  metadataList,
  metadataNew,
  metadata,
  sharing,
  settings,
]);
