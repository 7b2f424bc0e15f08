import { MutationCache, QueryCache, QueryClient, type InvalidateQueryFilters, type QueryKey } from '@tanstack/react-query';
import { connect } from '../../clients/typescript/src/client.ts';
import { eachOf } from '../../clients/typescript/src/paging.ts';
import { ProblemError, UnreachableError } from '../../clients/typescript/src/problem.ts';
import { sendOnce } from './unanswered.ts';

/** Sends, and says at once that a browser without a network reaches nobody: a repetition would wait for up to four seconds. */
async function sendOnline(request: Request): Promise<Response> {
  try {
    return await sendOnce(request);
  } catch (error) {
    throw navigator.onLine ? error : new UnreachableError(error);
  }
}

/** The one way from the console to the API. */
export const api = connect({ baseUrl: location.origin, fetch: sendOnline });

export const SESSION_KEY: QueryKey = ['session'];

/** All of a list, page after page: the API answers 100 at once where nothing else is asked for. */
export const everyOf = <T>(ask: Parameters<typeof eachOf<T>>[0]): Promise<T[]> => Array.fromAsync(eachOf(ask));

/** Asks who is signed in after a refusal with 401: the session may have ended elsewhere. */
function noticeEndedSession(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401) void queryClient.invalidateQueries({ queryKey: SESSION_KEY });
}

/** Whether a question failed for want of a network. It is asked again as soon as there is one, as a question that begins without. */
export function hasLostNetwork(_failures: number, error: unknown): boolean {
  return error instanceof UnreachableError && !navigator.onLine;
}

/** Keeps what was read until something was changed. */
class Readings extends QueryClient {
  /** Begins a first reading again as well: it may be older than the change, and by itself it would be waited for. */
  override invalidateQueries(filters: InvalidateQueryFilters = {}): Promise<void> {
    for (const query of this.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })) {
      if (query.state.data !== undefined) continue;
      void query.cancel({ silent: true });
      // whoever waits for it is told what went wrong
      query.fetch().catch(() => undefined);
    }
    return super.invalidateQueries(filters);
  }
}

/**
 * Keeps what the service answered. The API's client repeats requests by itself, so that a question is repeated here only after the network was lost. A
 * change that is made offline fails at once.
 */
export const queryClient: QueryClient = new Readings({
  queryCache: new QueryCache({ onError: noticeEndedSession }),
  mutationCache: new MutationCache({ onError: noticeEndedSession }),
  defaultOptions: { queries: { retry: hasLostNetwork, staleTime: 15_000 }, mutations: { retry: false, networkMode: 'always' } },
});
