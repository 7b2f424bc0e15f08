import type { Transaction } from '../database/database.ts';
import { insertAuditEvent } from './audit.queries.ts';
import type { Caller } from './caller.ts';

/** Everything that is written down about access, identity and data. Later work adds to it, and every place that lists the names then fails to compile. */
export const AUDIT_ACTIONS = [
  'user.created',
  'api-key.created',
  'api-key.revoked',
  'organization.created',
  'organization.member-added',
  'experiment.created',
  'experiment.updated',
  'experiment.published',
  'experiment.deleted',
  'experiment.erased',
  'locations.added',
  'locations.replaced',
  'flow.saved',
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
  'upload.created',
  'upload.completed',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

interface AuditEvent {
  action: AuditAction;
  organizationId?: string | null;
  resource?: { type: string; id: string };
  /** The person whom the event is about, when that is not the actor. */
  subjectId?: string;
  details?: object;
}

/** Writes an event in the transaction of the change that it records. `by` is null for what the service does by itself. */
export async function audit(tx: Transaction, by: Pick<Caller, 'userId' | 'requestId'> | null, event: AuditEvent): Promise<void> {
  await insertAuditEvent(tx, {
    actorId: by?.userId ?? null,
    action: event.action,
    organizationId: event.organizationId ?? null,
    resourceType: event.resource?.type ?? null,
    resourceId: event.resource?.id ?? null,
    subjectId: event.subjectId ?? null,
    requestId: by?.requestId ?? null,
    details: event.details ?? {},
  });
}
