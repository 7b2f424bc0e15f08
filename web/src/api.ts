import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { connect } from '../../clients/typescript/src/client.ts';
import { ProblemError } from '../../clients/typescript/src/problem.ts';

/** The one way from the console to the API. */
export const api = connect({ baseUrl: location.origin });

export const SESSION_KEY: QueryKey = ['session'];

/** A session that ended elsewhere is noticed by the first refusal. */
function noticeEndedSession(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401) void queryClient.invalidateQueries({ queryKey: SESSION_KEY });
}

/** What the service said. The client repeats by itself, so that nothing is repeated here; a change that is made offline fails at once. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEndedSession }),
  mutationCache: new MutationCache({ onError: noticeEndedSession }),
  defaultOptions: { queries: { retry: false, staleTime: 15_000 }, mutations: { retry: false, networkMode: 'always' } },
});
