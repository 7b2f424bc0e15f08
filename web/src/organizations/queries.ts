import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, QueryOf } from '../../../clients/typescript/src/types.ts';
import { api, everyOf, queryClient } from '../api.ts';
import type { DeliveriesSearch } from './search.ts';

export const PAGE_SIZE = 50;
const POLL_MS = 2_000;

export type Organization = AnswerTo<'/api/v1/organizations/{id}', 'get'>;
export type Member = AnswerTo<'/api/v1/auth/organization/list-members', 'get'>['members'][number];
export type Team = AnswerTo<'/api/v1/organizations/{id}/teams', 'get'>[number];
export type Webhook = AnswerTo<'/api/v1/organizations/{id}/webhooks', 'get'>[number];
export type Delivery = AnswerTo<'/api/v1/organizations/{id}/webhooks/{webhookId}/deliveries', 'get'>[number];
export type AuditEvent = AnswerTo<'/api/v1/organizations/{id}/audit', 'get'>[number];

export type Resource = AnswerTo<'/api/v1/organizations/{id}/resources', 'get'>['resources'][number];

/** Which events of the log are asked for. */
export type AuditFilters = Omit<QueryOf<'/api/v1/organizations/{id}/audit', 'get'>, 'page' | 'pageSize'>;

const byId = (id: string) => ({ params: { path: { id } } });

/** What every query of an organization begins with, so that a change renews them all. */
const keyOf = (id: string) => ['organization', id];
const ALL = ['organizations'];

/** Asks anew for what is shown of an organization, and for what the caller may do with it. */
export async function renewOrganization(id: string): Promise<void> {
  const keys = [keyOf(id), ALL, ['my-organizations'], ['sharing', 'organizations']];
  await Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** Organizations of one's own, with the personal one: what something new can belong to. */
export const organizationsQuery = queryOptions({
  queryKey: ['my-organizations'],
  queryFn: async ({ signal }) => everyOf((place) => api.GET('/api/v1/users/me/organizations', { params: { query: place }, signal })),
});

/** Organizations that one may find: public ones and one's own. */
export const foundQuery = (search: string | undefined) =>
  queryOptions({
    queryKey: [...ALL, 'found', search],
    queryFn: async ({ signal }) => {
      const query = { pageSize: 25, page: 1, ...(search === undefined ? {} : { search }) };
      return (await bodyOf(api.GET('/api/v1/organizations', { params: { query }, signal }))).organizations;
    },
    placeholderData: keepPreviousData,
  });

export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'one'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/organizations/{id}', { ...byId(id), signal })),
  });

/** All members; an organization has 100 at most. */
export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'members'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/v1/auth/organization/list-members', { params: { query: { organizationId: id } }, signal }))).members,
  });

/** Invitations that can still be accepted. */
export const invitationsQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'invitations'],
    queryFn: async ({ signal }) => {
      const asked = api.GET('/api/v1/auth/organization/list-invitations', { params: { query: { organizationId: id } }, signal });
      return (await bodyOf(asked)).filter(({ status, expiresAt }) => status === 'pending' && Date.parse(expiresAt) > Date.now());
    },
  });

/** Requests to join that are still to be decided. */
export const requestsQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'requests'],
    queryFn: async ({ signal }) => {
      const all = await everyOf((place) =>
        api.GET('/api/v1/organizations/{id}/join-requests', { params: { path: { id }, query: place }, signal }),
      );
      return all.filter(({ status }) => status === 'pending');
    },
  });

export const teamsQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'teams'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/organizations/{id}/teams', { params: { path: { id }, query: place }, signal })),
  });

/** What was shared with the teams of an organization. */
export const teamGrantsQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'team-grants'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/organizations/{id}/team-grants', { params: { path: { id }, query: place }, signal })),
  });

/** A page of what an organization owns and the caller may read, last changed first, and how many there are of each kind. */
export const resourcesQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: [...keyOf(id), 'resources', page],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/organizations/{id}/resources', { params: { path: { id }, query: { page, pageSize: PAGE_SIZE } }, signal })),
    placeholderData: keepPreviousData,
  });

/** What keeps an organization from being deleted. */
export const blockersQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'blockers'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/v1/organizations/{id}/deletion-blockers', { ...byId(id), signal }))).blockers,
  });

/** A page of what happened in an organization, newest first, with the names of the people in it. */
export const auditQuery = (id: string, page: number, filters: AuditFilters) =>
  queryOptions({
    queryKey: [...keyOf(id), 'audit', page, filters],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/api/v1/organizations/{id}/audit', {
        params: { path: { id }, query: { page, pageSize: PAGE_SIZE, ...filters } },
        signal,
      });
      const events = data ?? [];
      const userIds = [...new Set(events.flatMap(({ actorId, subjectId }) => [actorId, subjectId]))].filter((each) => each !== null);
      const found = userIds.length === 0 ? [] : (await bodyOf(api.POST('/api/v1/users/metadata', { body: { userIds }, signal }))).users;
      const people = new Map(found.map(({ userId, firstName, lastName }) => [userId, `${firstName} ${lastName}`.trim()]));
      return { events, people, total: Number(response.headers.get('x-total-count')) };
    },
    placeholderData: keepPreviousData,
  });

export const webhooksQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'webhooks'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/organizations/{id}/webhooks', { params: { path: { id }, query: place }, signal })),
  });

export const webhookQuery = (id: string, webhookId: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'webhook', webhookId],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/organizations/{id}/webhooks/{webhookId}', { params: { path: { id, webhookId } }, signal })),
    refetchInterval: 5 * POLL_MS,
  });

/** A page of what a webhook was sent, asked for again as often as the webhook itself, and oftener while something is being tried. */
export const deliveriesQuery = (id: string, webhookId: string, { status, page = 1 }: DeliveriesSearch) =>
  queryOptions({
    queryKey: [...keyOf(id), 'deliveries', webhookId, { status, page }],
    queryFn: async ({ signal }) => {
      const query = { page, pageSize: PAGE_SIZE, ...(status === undefined ? {} : { status }) };
      const { data, response } = await api.GET('/api/v1/organizations/{id}/webhooks/{webhookId}/deliveries', {
        params: { path: { id, webhookId }, query },
        signal,
      });
      return { deliveries: data ?? [], total: Number(response.headers.get('x-total-count')) };
    },
    refetchInterval: ({ state: { data } }) =>
      data?.deliveries.some(({ status: now }) => now === 'pending') === true ? POLL_MS : 5 * POLL_MS,
    placeholderData: keepPreviousData,
  });

/** One delivery with its log, which is another one after each try. */
export const deliveryQuery = (id: string, webhookId: string, { id: deliveryId, attempts, status }: Delivery) =>
  queryOptions({
    queryKey: [...keyOf(id), 'deliveries', webhookId, deliveryId, attempts, status],
    queryFn: async ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/organizations/{id}/webhooks/{webhookId}/deliveries/{deliveryId}', {
          params: { path: { id, webhookId, deliveryId } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
