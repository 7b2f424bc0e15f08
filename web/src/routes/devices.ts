import { createRoute } from '@tanstack/react-router';
import { deviceQuery, groupQuery, groupsQuery } from '../devices/queries.ts';
import { deviceSearch, fleetSearch, groupsSearch } from '../devices/search.ts';
import { loadPage } from './load-page.ts';
import { guarded } from './roots.ts';

const devices = createRoute({
  getParentRoute: () => guarded,
  path: '/devices',
  validateSearch: fleetSearch,
  component: loadPage(() => import('../devices/page.tsx'), 'DevicesPage'),
});

const newDevice = createRoute({
  getParentRoute: () => guarded,
  path: '/devices/new',
  component: loadPage(() => import('../devices/register.tsx'), 'RegisterPage'),
});

const device = createRoute({
  getParentRoute: () => guarded,
  path: '/devices/$device',
  validateSearch: deviceSearch,
  loader: ({ context, params }) => context.queryClient.query({ ...deviceQuery(params.device), staleTime: 'static' }),
  component: loadPage(() => import('../devices/device.tsx'), 'DevicePage'),
});

const deviceSharing = createRoute({
  getParentRoute: () => guarded,
  path: '/devices/$device/sharing',
  loader: ({ context, params }) => context.queryClient.query({ ...deviceQuery(params.device), staleTime: 'static' }),
  component: loadPage(() => import('../devices/sharing.tsx'), 'DeviceSharingPage'),
});

const deviceGroups = createRoute({
  getParentRoute: () => guarded,
  path: '/devices/groups',
  validateSearch: groupsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.query({ ...groupsQuery(deps), staleTime: 'static' }),
  component: loadPage(() => import('../devices/groups.tsx'), 'GroupsPage'),
});

const deviceGroup = createRoute({
  getParentRoute: () => guarded,
  path: '/devices/groups/$group',
  loader: ({ context, params }) => context.queryClient.query({ ...groupQuery(params.group), staleTime: 'static' }),
  component: loadPage(() => import('../devices/group.tsx'), 'GroupPage'),
});

const deviceGroupSharing = createRoute({
  getParentRoute: () => guarded,
  path: '/devices/groups/$group/sharing',
  loader: ({ context, params }) => context.queryClient.query({ ...groupQuery(params.group), staleTime: 'static' }),
  component: loadPage(() => import('../devices/sharing.tsx'), 'GroupSharingPage'),
});

export const deviceRoutes = [devices, newDevice, device, deviceSharing, deviceGroups, deviceGroup, deviceGroupSharing] as const;
