import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, queryClient, SESSION_KEY } from '../api.ts';

const ALL = ['account'];

export const sessionsQuery = queryOptions({
  queryKey: [...ALL, 'sessions'],
  queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/auth/list-sessions', { signal })),
});
export const passkeysQuery = queryOptions({
  queryKey: [...ALL, 'passkeys'],
  queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/auth/passkey/list-user-passkeys', { signal })),
});
export const keysQuery = queryOptions({
  queryKey: [...ALL, 'keys'],
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/v1/auth/api-key/list', { signal }))).apiKeys,
});
export const linkedQuery = queryOptions({
  queryKey: [...ALL, 'linked'],
  queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/auth/list-accounts', { signal })),
});
export const activityQuery = queryOptions({
  queryKey: [...ALL, 'activity'],
  queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/users/me/audit', { params: { query: { pageSize: 10 } }, signal })),
});
/** Whether the newsletter comes to the caller's address. */
export const newsletterQuery = queryOptions({
  queryKey: [...ALL, 'newsletter'],
  queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/newsletter/status', { signal })),
});
export const profileQuery = (userId: string) =>
  queryOptions({
    queryKey: [...ALL, 'profile', userId],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/users/{id}/profile', { params: { path: { id: userId } }, signal })),
  });
/** What keeps an account from being deleted. */
export const closingQuery = (userId: string) =>
  queryOptions({
    queryKey: [...ALL, 'closing', userId],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/users/{id}/deletion-blockers', { params: { path: { id: userId } }, signal })),
  });
export type Blockers = AnswerTo<'/api/v1/users/{id}/deletion-blockers', 'get'>;
export type HeldResource = Blockers['resources'][number];

/** Most things that are handed over by one request. */
const AT_ONCE = 200;

/** Hands things over to other admins. Answers how many were taken, and why others were not. */
export async function handOver(transfers: BodyOf<'/api/v1/collaborators/transfer-admin', 'post'>['transfers']) {
  const { results } = await bodyOf(api.POST('/api/v1/collaborators/transfer-admin', { body: { transfers: transfers.slice(0, AT_ONCE) } }));
  await queryClient.invalidateQueries({ queryKey: ALL });
  return { given: results.filter(({ success }) => success).length, refused: [...new Set(results.flatMap(({ error }) => error ?? []))] };
}

/** Invitations that can still be accepted. */
export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: async ({ signal }) => {
    const all = await bodyOf(api.GET('/api/v1/auth/organization/list-user-invitations', { signal }));
    return all.filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now());
  },
});

export type Key = AnswerTo<'/api/v1/auth/api-key/list', 'get'>['apiKeys'][number];
export type Passkey = AnswerTo<'/api/v1/auth/passkey/list-user-passkeys', 'get'>[number];

/** Asks anew for what is shown of the account, and for who is signed in: the head of every page shows their name. */
export async function renewAccount(): Promise<void> {
  await Promise.all([ALL, SESSION_KEY].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
