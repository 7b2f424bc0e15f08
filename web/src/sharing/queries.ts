import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, everyOf } from '../api.ts';

const FOUND = 8;

/** Something that can be shared. People can be invited to each of these except a group of devices. */
export interface Shared {
  resourceType: 'experiment' | 'protocol' | 'macro' | 'workbook' | 'device' | 'device_group';
  id: string;
}

export type Collaborator = AnswerTo<'/api/v1/{resourceType}/{id}/collaborators', 'get'>[number];
export type Grant = Extract<Collaborator, { kind: 'grant' }>;
export type Role = Grant['role'];
export type GranteeType = Grant['granteeType'];
export const ROLES: readonly Role[] = ['viewer', 'admin', 'owner'];

/** What every query of a shared thing's people begins with, so that a change renews them all. */
export const peopleKey = ({ resourceType, id }: Shared) => ['sharing', resourceType, id];

export const collaboratorsQuery = (shared: Shared) =>
  queryOptions({
    queryKey: [...peopleKey(shared), 'collaborators'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/{resourceType}/{id}/collaborators', { params: { path: { ...shared }, query: place }, signal })),
  });

/** People who can be shared with, best match first. */
export const granteeUsersQuery = (shared: Shared, query: string) =>
  queryOptions({
    queryKey: [...peopleKey(shared), 'users', query],
    queryFn: async ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/{resourceType}/{id}/grantee-users', { params: { path: { ...shared }, query: { query, limit: FOUND } }, signal }),
      ),
  });

export const granteeTeamsQuery = (shared: Shared) =>
  queryOptions({
    queryKey: [...peopleKey(shared), 'teams'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/{resourceType}/{id}/grantee-teams', { params: { path: { ...shared }, query: place }, signal })),
  });

export const granteeOrganizationsQuery = queryOptions({
  queryKey: ['sharing', 'organizations'],
  queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/grantee-organizations', { params: { query: { limit: 50 } }, signal })),
});

/** Invitations that wait for an answer; groups of devices have none. */
export const invitationsQuery = (shared: Shared) =>
  queryOptions({
    queryKey: [...peopleKey(shared), 'invitations'],
    queryFn: async ({ signal }) => {
      const { resourceType, id } = shared;
      if (resourceType === 'device_group') return [];
      return everyOf((place) => api.GET('/api/v1/invitations', { params: { query: { resourceType, resourceId: id, ...place } }, signal }));
    },
  });

export type PlaceFound = AnswerTo<'/api/v1/locations/search', 'get'>[number];

/** Places of a name, the best-known first. */
export const placesQuery = (query: string) =>
  queryOptions({
    queryKey: ['places', query],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/locations/search', { params: { query: { query, maxResults: 5 } }, signal })),
  });

/** People who ask to take part in an experiment. */
export const requestsQuery = (id: string) =>
  queryOptions({
    queryKey: [...peopleKey({ resourceType: 'experiment', id }), 'requests'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/experiments/{id}/join-requests', { params: { path: { id }, query: place }, signal })),
  });

/** One's own request to take part; null without one. */
export const ownRequestQuery = (id: string) =>
  queryOptions({
    queryKey: [...peopleKey({ resourceType: 'experiment', id }), 'own-request'],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/experiments/{id}/join-requests/me', { params: { path: { id } }, signal })).catch((error: unknown) => {
        if (error instanceof ProblemError && error.status === 404) return null;
        throw error;
      }),
  });
