import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { accountSearch } from './account/search.ts';
import { queryClient } from './api.ts';
import { experimentsQuery, homeSearch } from './home/queries.ts';
import { sessionQuery } from './shell/session.ts';
import { NotFoundPage, ProblemPage, WaitingPage } from './shell/shell.tsx';
import { newsletterSearch, signInSearch } from './sign-in/search.ts';
import { deviceRoutes } from './routes/devices.ts';
import { experimentRoutes } from './routes/experiment.ts';
import { libraryRoutes } from './routes/library.ts';
import { loadPage } from './routes/load-page.ts';
import { organizationRoutes } from './routes/organizations.ts';
import { guarded, root } from './routes/roots.ts';

const home = createRoute({
  getParentRoute: () => guarded,
  path: '/',
  validateSearch: homeSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.query({ ...experimentsQuery(deps), staleTime: 'static' }),
  component: loadPage(() => import('./home/page.tsx'), 'HomePage'),
});

const newExperiment = createRoute({
  getParentRoute: () => guarded,
  path: '/experiments/new',
  component: loadPage(() => import('./sharing/new-experiment.tsx'), 'NewExperimentPage'),
});

const account = createRoute({
  getParentRoute: () => guarded,
  path: '/account',
  validateSearch: accountSearch,
  component: loadPage(() => import('./account/page.tsx'), 'AccountPage'),
});

const invitations = createRoute({
  getParentRoute: () => guarded,
  path: '/account/invitations',
  component: loadPage(() => import('./account/invitations.tsx'), 'InvitationsPage'),
});

const news = createRoute({
  getParentRoute: () => guarded,
  path: '/news',
  component: loadPage(() => import('./news/page.tsx'), 'NewsPage'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  beforeLoad: async ({ context, search }) => {
    const session = await context.queryClient.query({ ...sessionQuery, staleTime: 'static' });
    if (session !== null) throw redirect({ href: search.next ?? '/' });
  },
  component: loadPage(() => import('./sign-in/page.tsx'), 'SignInPage'),
});

const link = createRoute({
  getParentRoute: () => root,
  path: '/sign-in/link',
  component: loadPage(() => import('./sign-in/link.tsx'), 'LinkPage'),
});

const newsletter = createRoute({
  getParentRoute: () => root,
  path: '/newsletter/$act',
  validateSearch: newsletterSearch,
  component: loadPage(() => import('./sign-in/newsletter.tsx'), 'NewsletterPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    guarded.addChildren([
      home,
      newExperiment,
      experimentRoutes,
      ...deviceRoutes,
      ...organizationRoutes,
      ...libraryRoutes,
      account,
      invitations,
      news,
    ]),
    signIn,
    link,
    newsletter,
  ]),
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: ProblemPage,
  defaultNotFoundComponent: NotFoundPage,
  defaultPendingComponent: WaitingPage,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
