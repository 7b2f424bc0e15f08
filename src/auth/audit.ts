import type { Transaction } from '../database/database.ts';
import { insertAuditEvent, insertAuditEvents } from './audit.queries.ts';
import type { Actor } from './caller.ts';

/** Names of all events that are written down about access, identity and data. When a name is added, every place that lists the names fails to compile. */
export const AUDIT_ACTIONS = [
  'user.created',
  'user.profile-changed',
  'user.deactivated',
  'user.deleted',
  'user.erased',
  'user.updated',
  'session.created',
  'session.refused',
  'session.ended',
  'api-key.created',
  'api-key.updated',
  'api-key.revoked',
  'passkey.created',
  'passkey.updated',
  'passkey.deleted',
  'provider.linked',
  'provider.unlinked',
  'organization.created',
  'organization.member-added',
  'organization.member-removed',
  'organization.role-changed',
  'organization.updated',
  'organization.deleted',
  'organization.invited',
  'organization.invitation-accepted',
  'organization.invitation-rejected',
  'organization.invitation-cancelled',
  'organization.join-requested',
  'organization.join-cancelled',
  'organization.join-approved',
  'organization.join-rejected',
  'team.created',
  'team.updated',
  'team.deleted',
  'team.member-added',
  'team.member-removed',
  'experiment.created',
  'experiment.updated',
  'experiment.published',
  'experiment.deleted',
  'experiment.erased',
  'experiment.join-requested',
  'experiment.join-cancelled',
  'experiment.join-approved',
  'experiment.join-rejected',
  'invitation.created',
  'invitation.revoked',
  'invitation.accepted',
  'protocol.created',
  'protocol.updated',
  'protocol.published',
  'protocol.deleted',
  'macro.created',
  'macro.updated',
  'macro.published',
  'macro.deleted',
  'macro.linked',
  'macro.unlinked',
  'macro.reprocessed',
  'macro.stopped',
  'macro.allowed',
  'workbook.created',
  'workbook.updated',
  'workbook.published',
  'workbook.deleted',
  'workbook.version-published',
  'experiment.workbook-attached',
  'experiment.workbook-detached',
  'experiment.imported',
  'transfer-request.created',
  'transfer-request.completed',
  'locations.added',
  'locations.replaced',
  'flow.saved',
  'device.created',
  'device.deleted',
  'device.renamed',
  'device.bound',
  'device.unbound',
  'certificate.issued',
  'certificate.rotated',
  'certificate.revoked',
  'device-group.created',
  'device-group.updated',
  'device-group.deleted',
  'device-group.member-added',
  'device-group.member-removed',
  'temporary-credentials.issued',
  'metadata.created',
  'metadata.updated',
  'metadata.deleted',
  'dashboard.created',
  'dashboard.updated',
  'dashboard.deleted',
  'visualization.created',
  'visualization.updated',
  'visualization.deleted',
  'grant.created',
  'grant.updated',
  'grant.deleted',
  'resource.transferred',
  'resource.deleted',
  'upload.created',
  'upload.completed',
  'upload.replayed',
  'upload.withdrawn',
  'table.deleted',
  'table.column-changed',
  'export.created',
  'export.completed',
  'export.cancelled',
  'export.deleted',
  'annotation.created',
  'annotation.updated',
  'annotation.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret-rotated',
  'webhook.disabled',
] as const;
/** The name of what was done. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

interface AuditEvent {
  action: AuditAction;
  /** The organization in whose log the event stands; when left out, the one that owns the resource. */
  organizationId?: string | null;
  resource?: { type: string; id: string };
  /** The person whom the event is about, when that is not the actor. */
  subjectId?: string;
  details?: object;
}

type By = Actor | null;

const rowOf = (by: By, event: Omit<AuditEvent, 'details'>) => ({
  actorId: by?.userId ?? null,
  action: event.action,
  organizationId: event.organizationId ?? null,
  resourceType: event.resource?.type ?? null,
  resourceId: event.resource?.id ?? null,
  subjectId: event.subjectId ?? null,
  requestId: by?.requestId ?? null,
});

/** Writes an event in the transaction of the change that it records. `by` is null for what the service does by itself. */
export async function audit(tx: Transaction, by: By, event: AuditEvent): Promise<void> {
  await insertAuditEvent(tx, { ...rowOf(by, event), details: event.details ?? {} });
}

/** Writes one event for each of the details, in one statement. Writes nothing when there are no details. */
export async function auditEach(tx: Transaction, by: By, event: Omit<AuditEvent, 'details'>, details: readonly object[]): Promise<void> {
  if (details.length > 0) await insertAuditEvents(tx, rowOf(by, event), details);
}
