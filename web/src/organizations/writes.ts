import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { BodyOf } from '../../../clients/typescript/src/types.ts';
import { api } from '../api.ts';
import { renewOrganization } from './queries.ts';

async function renewAfter<T>(id: string, change: Promise<T>): Promise<T> {
  const answer = await change;
  await renewOrganization(id);
  return answer;
}

const HOOK = '/api/v1/organizations/{id}/webhooks/{webhookId}';

export const makeOrganization = (body: { name: string; slug: string }) => bodyOf(api.POST('/api/v1/auth/organization/create', { body }));
export type OrganizationChanges = BodyOf<'/api/v1/auth/organization/update', 'post'>['data'];
export const changeOrganization = (organizationId: string, data: OrganizationChanges) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/update', { body: { organizationId, data } }));
/** Deletes an organization. What is shown of organizations is asked for anew after its pages were left. */
export const removeOrganization = (organizationId: string) => api.POST('/api/v1/auth/organization/delete', { body: { organizationId } });
export const leaveOrganization = (organizationId: string) => api.POST('/api/v1/auth/organization/leave', { body: { organizationId } });
export const askToJoin = (id: string) =>
  renewAfter(id, api.POST('/api/v1/organizations/{id}/join-requests', { params: { path: { id } }, body: {} }));
export const withdrawRequest = (id: string) =>
  renewAfter(id, api.DELETE('/api/v1/organizations/{id}/join-requests/me', { params: { path: { id } } }));

export const changeMemberRole = (organizationId: string, memberId: string, role: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/update-member-role', { body: { organizationId, memberId, role } }));
export const removeMember = (organizationId: string, memberIdOrEmail: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/remove-member', { body: { organizationId, memberIdOrEmail } }));
export const inviteMember = (organizationId: string, email: string, role: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/invite-member', { body: { organizationId, email, role } }));
export const cancelInvitation = (organizationId: string, invitationId: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/cancel-invitation', { body: { invitationId } }));
export const decideRequest = (id: string, requestId: string, decision: 'approve' | 'reject') =>
  renewAfter(
    id,
    api.PATCH('/api/v1/organizations/{id}/join-requests/{requestId}', { params: { path: { id, requestId } }, body: { decision } }),
  );

export const makeTeam = (organizationId: string, name: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/create-team', { body: { organizationId, name } }));
export const renameTeam = (organizationId: string, teamId: string, name: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/update-team', { body: { teamId, data: { name, organizationId } } }));
export const removeTeam = (organizationId: string, teamId: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/remove-team', { body: { organizationId, teamId } }));
export const addTeamMember = (organizationId: string, teamId: string, userId: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/add-team-member', { body: { organizationId, teamId, userId } }));
export const removeTeamMember = (organizationId: string, teamId: string, userId: string) =>
  renewAfter(organizationId, api.POST('/api/v1/auth/organization/remove-team-member', { body: { organizationId, teamId, userId } }));

export type NewWebhook = BodyOf<'/api/v1/organizations/{id}/webhooks', 'post'>;
/** Registers a webhook; only this answer holds its signing secret. */
export const makeWebhook = (id: string, body: NewWebhook) =>
  renewAfter(id, bodyOf(api.POST('/api/v1/organizations/{id}/webhooks', { params: { path: { id } }, body })));
export const switchWebhook = (id: string, webhookId: string, enabled: boolean) =>
  renewAfter(id, api.PATCH(HOOK, { params: { path: { id, webhookId } }, body: { enabled } }));
/** Deletes a webhook. What is shown of webhooks is asked for anew after its page was left. */
export const removeWebhook = (id: string, webhookId: string) => api.DELETE(HOOK, { params: { path: { id, webhookId } } });
/** Replaces the signing secret; only this answer holds the new one. */
export const rotateSecret = (id: string, webhookId: string) =>
  renewAfter(
    id,
    bodyOf(api.POST('/api/v1/organizations/{id}/webhooks/{webhookId}/rotate-secret', { params: { path: { id, webhookId } } })),
  );
export const testWebhook = (id: string, webhookId: string) =>
  renewAfter(id, api.POST('/api/v1/organizations/{id}/webhooks/{webhookId}/test', { params: { path: { id, webhookId } } }));
export const repeatDelivery = (id: string, webhookId: string, deliveryId: string) =>
  renewAfter(
    id,
    api.POST('/api/v1/organizations/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', {
      params: { path: { id, webhookId, deliveryId } },
    }),
  );
