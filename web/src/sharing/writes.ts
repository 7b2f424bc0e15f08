import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { renewRows } from '../annotations/writes.ts';
import { api, queryClient } from '../api.ts';
import { peopleKey, type GranteeType, type PlaceFound, type Role, type Shared } from './queries.ts';

/** Asks anew for who may do what with a thing, and for what the caller may do. */
async function renew(shared: Shared): Promise<void> {
  const keys = [
    peopleKey(shared),
    [shared.resourceType, shared.id],
    ['contributors', shared.id],
    ['devices'],
    ['experiments'],
    ['library'],
    [`${shared.resourceType}s`, shared.id],
  ];
  await Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

async function renewAfter<T>(shared: Shared, change: Promise<T>): Promise<T> {
  const answer = await change;
  await renew(shared);
  return answer;
}

const ofExperiment = (id: string): Shared => ({ resourceType: 'experiment', id });

export const share = (shared: Shared, body: { granteeType: GranteeType; granteeId: string; role: Role }) =>
  renewAfter(shared, api.POST('/api/v1/{resourceType}/{id}/collaborators', { params: { path: { ...shared } }, body }));
export const changeRole = (shared: Shared, grantId: string, role: Role) =>
  renewAfter(
    shared,
    api.PATCH('/api/v1/{resourceType}/{id}/collaborators/{grantId}', { params: { path: { ...shared, grantId } }, body: { role } }),
  );
export const removeGrant = (shared: Shared, grantId: string) =>
  renewAfter(shared, api.DELETE('/api/v1/{resourceType}/{id}/collaborators/{grantId}', { params: { path: { ...shared, grantId } } }));
/** Gives up the caller's own grant. Nothing is asked for anew, since what was shown may be closed to the caller by then. */
export const leave = (shared: Shared) => api.DELETE('/api/v1/{resourceType}/{id}/collaborators/me', { params: { path: { ...shared } } });

/** Something that addresses can be invited to. */
export type Invitable = Shared & { resourceType: Exclude<Shared['resourceType'], 'device_group'> };
export const isInvitable = (shared: Shared): shared is Invitable => shared.resourceType !== 'device_group';

export const inviteAddress = (shared: Invitable, email: string, tier: 'admin' | 'viewer') =>
  renewAfter(
    shared,
    bodyOf(api.POST('/api/v1/invitations', { body: { resourceType: shared.resourceType, resourceId: shared.id, email, tier } })),
  );
export const revokeInvitation = (shared: Shared, invitationId: string) =>
  renewAfter(shared, api.DELETE('/api/v1/invitations/{invitationId}', { params: { path: { invitationId } } }));

export const askToJoin = (id: string, message: string) =>
  renewAfter(
    ofExperiment(id),
    api.POST('/api/v1/experiments/{id}/join-requests', { params: { path: { id } }, body: message === '' ? {} : { message } }),
  );
export const withdrawRequest = (id: string, requestId: string) =>
  renewAfter(ofExperiment(id), api.DELETE('/api/v1/experiments/{id}/join-requests/{requestId}', { params: { path: { id, requestId } } }));
export const approveRequest = (id: string, requestId: string) =>
  renewAfter(
    ofExperiment(id),
    api.POST('/api/v1/experiments/{id}/join-requests/{requestId}/approve', { params: { path: { id, requestId } } }),
  );
export const rejectRequest = (id: string, requestId: string) =>
  renewAfter(
    ofExperiment(id),
    api.POST('/api/v1/experiments/{id}/join-requests/{requestId}/reject', { params: { path: { id, requestId } } }),
  );

type NewExperiment = BodyOf<'/api/v1/experiments', 'post'>;
export type ExperimentPatch = BodyOf<'/api/v1/experiments/{id}', 'patch'>;

export async function makeExperiment(body: NewExperiment): Promise<AnswerTo<'/api/v1/experiments', 'post'>> {
  const made = await bodyOf(api.POST('/api/v1/experiments', { body }));
  await queryClient.invalidateQueries({ queryKey: ['experiments'] });
  return made;
}

/** Changes an experiment, unless somebody changed it since its tag was read. */
export async function changeExperiment(id: string, tag: string, body: ExperimentPatch): Promise<void> {
  await api.PATCH('/api/v1/experiments/{id}', { params: { path: { id } }, headers: { 'if-match': tag }, body });
  // rows hold people's names or their pseudonyms
  await Promise.all([renew(ofExperiment(id)), renewRows(id)]);
}
export const openToAll = (id: string) =>
  renewAfter(
    ofExperiment(id),
    api.PATCH('/api/v1/experiments/{id}/visibility', { params: { path: { id } }, body: { visibility: 'public' } }),
  );
export const moveResource = (shared: Shared, targetOrganizationId: string) =>
  renewAfter(shared, api.POST('/api/v1/{resourceType}/{id}/transfer', { params: { path: { ...shared } }, body: { targetOrganizationId } }));
/** Deletes an experiment. What is shown of experiments is asked for anew after its page was left. */
export const removeExperiment = (id: string) => api.DELETE('/api/v1/experiments/{id}', { params: { path: { id } } });
export const renewExperiments = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['experiments'] });

type Place = NonNullable<AnswerTo<'/api/v1/experiments/{id}', 'get'>['locations']>[number];

/** Adds a place, which is called by the first part of its label until somebody changes it. */
export const addPlace = (id: string, { label, ...where }: PlaceFound) =>
  renewAfter(
    ofExperiment(id),
    api.POST('/api/v1/experiments/{id}/locations', {
      params: { path: { id } },
      body: { locations: [{ ...where, name: label.split(',')[0]?.trim() ?? label, addressLabel: label }] },
    }),
  );
/** Keeps these places of an experiment, and removes the others. */
export const keepPlaces = (id: string, places: readonly Place[]) =>
  renewAfter(
    ofExperiment(id),
    api.PUT('/api/v1/experiments/{id}/locations', {
      params: { path: { id } },
      body: { locations: places.map(({ id: _id, createdAt: _made, updatedAt: _changed, ...place }) => place) },
    }),
  );
