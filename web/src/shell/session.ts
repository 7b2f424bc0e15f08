import { passkeyClient } from '@better-auth/passkey/client';
import { queryOptions } from '@tanstack/react-query';
import { createAuthClient } from 'better-auth/client';
import { emailOTPClient, genericOAuthClient } from 'better-auth/client/plugins';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, queryClient, SESSION_KEY } from '../api.ts';

/** Signing in: codes, passkeys and providers. Who is signed in is kept by the query cache, and nowhere else. */
export const auth = createAuthClient({
  baseURL: `${location.origin}/api/v1/auth`,
  plugins: [emailOTPClient(), passkeyClient(), genericOAuthClient()],
});

interface AuthFailure {
  message?: string | undefined;
  status?: number;
  code?: string | undefined;
}

/** A refusal of the authentication layer; its message is the sentence that the layer answered. */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  readonly code: string | undefined;
  readonly status: number;
  constructor({ message, status = 0, code }: AuthFailure) {
    super(message ?? `The service answered ${String(status)}.`);
    this.status = status;
    this.code = code;
  }
}

/** What the authentication layer answered. Errors: AuthError. */
export async function answerOf<T>(asked: Promise<{ data: T | null; error: AuthFailure | null }>): Promise<T> {
  const { data, error } = await asked;
  if (error) throw new AuthError(error);
  return data as T;
}

export type Session = NonNullable<AnswerTo<'/api/v1/auth/get-session', 'get'>>;

/** Who is signed in; null for nobody. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async (): Promise<Session | null> => (await bodyOf(api.GET('/api/v1/auth/get-session'))) ?? null,
  // whoever has no session may have got one in another tab
  staleTime: ({ state }) => (state.data === null ? 0 : 60_000),
});

/** Names of the providers that this service signs people in with. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/v1/auth/providers', { signal }))).providers,
});

/** The other tabs of this browser, which are told when somebody comes or goes. */
const tabs = new BroadcastChannel('session');
tabs.onmessage = () =>
  void queryClient.query({ ...sessionQuery, staleTime: 0 }).then(
    (session) => {
      // whoever went may still have something written here
      if (session === null) return;
      queryClient.removeQueries({ type: 'inactive' });
      void queryClient.invalidateQueries();
    },
    () => undefined,
  );

/** Forgets all that the last person saw, and asks who is signed in now. */
export async function renewSession(): Promise<Session | null> {
  queryClient.clear();
  tabs.postMessage(null);
  return queryClient.query(sessionQuery);
}
