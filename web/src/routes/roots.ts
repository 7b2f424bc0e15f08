import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from '../shell/session.ts';
import { NotFoundPage, ProblemPage, Shell } from '../shell/shell.tsx';

export const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Shell,
  notFoundComponent: NotFoundPage,
  errorComponent: ProblemPage,
  loader: ({ context }) => context.queryClient.query({ ...sessionQuery, staleTime: 'static' }),
});

/** Pages for whoever is signed in; everybody else signs in first and comes back. */
export const guarded = createRoute({
  getParentRoute: () => root,
  id: 'guarded',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.query({ ...sessionQuery, staleTime: 'static' });
    if (session === null) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } });
    return { session };
  },
});
