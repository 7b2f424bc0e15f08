import { createRoute, redirect } from '@tanstack/react-router';
import { comparedSearch, librarySearch } from '../library/search.ts';
import { macroSearch } from '../macros/search.ts';
import { loadPage } from './load-page.ts';
import { guarded } from './roots.ts';

const start = createRoute({
  getParentRoute: () => guarded,
  path: '/library',
  beforeLoad: () => {
    throw redirect({ to: '/library/$kind', params: { kind: 'macros' }, replace: true });
  },
});

const library = createRoute({
  getParentRoute: () => guarded,
  path: '/library/$kind',
  validateSearch: librarySearch,
  component: loadPage(() => import('../library/list.tsx'), 'LibraryPage'),
});

const macro = createRoute({
  getParentRoute: () => guarded,
  path: '/library/macros/$macro',
  validateSearch: macroSearch,
  component: loadPage(() => import('../macros/page.tsx'), 'MacroPage'),
});

const protocol = createRoute({
  getParentRoute: () => guarded,
  path: '/library/protocols/$protocol',
  validateSearch: comparedSearch,
  component: loadPage(() => import('../protocols/page.tsx'), 'ProtocolPage'),
});

const workbook = createRoute({
  getParentRoute: () => guarded,
  path: '/library/workbooks/$workbook',
  validateSearch: comparedSearch,
  component: loadPage(() => import('../workbooks/page.tsx'), 'WorkbookPage'),
});

const macroSharing = createRoute({
  getParentRoute: () => guarded,
  path: '/library/macros/$macro/sharing',
  component: loadPage(() => import('../sharing/listed.tsx'), 'MacroSharingPage'),
});

const protocolSharing = createRoute({
  getParentRoute: () => guarded,
  path: '/library/protocols/$protocol/sharing',
  component: loadPage(() => import('../sharing/listed.tsx'), 'ProtocolSharingPage'),
});

const workbookSharing = createRoute({
  getParentRoute: () => guarded,
  path: '/library/workbooks/$workbook/sharing',
  component: loadPage(() => import('../sharing/listed.tsx'), 'WorkbookSharingPage'),
});

export const libraryRoutes = [start, library, macro, macroSharing, protocol, protocolSharing, workbook, workbookSharing] as const;
