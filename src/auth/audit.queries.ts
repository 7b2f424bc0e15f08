import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../database/database.ts';
import { fragment, sql } from '../database/sql.ts';

export interface AuditRow {
  actorId: string | null;
  action: string;
  organizationId: string | null;
  resourceType: string | null;
  resourceId: string | null;
  subjectId: string | null;
  requestId: string | null;
  details: object;
}

/** The organization that an event names, or else the one that owns the resource. */
const organizationOf = ({ organizationId, resourceId }: Omit<AuditRow, 'details'>) =>
  fragment`coalesce(${organizationId}::uuid, (select organization_id from resources where resources.id = ${resourceId}))`;

export const insertAuditEvent = (db: Queryable, event: AuditRow) =>
  db.run(sql('auth.insertAuditEvent')`
    insert into audit_events (id, actor_id, action, organization_id, resource_type, resource_id, subject_id, request_id, details)
    values (${randomUUIDv7()}, ${event.actorId}, ${event.action}, ${organizationOf(event)}, ${event.resourceType}, ${event.resourceId},
      ${event.subjectId}, ${event.requestId}, ${JSON.stringify(event.details)})`);

/** Writes the same event once for each of the details. */
export const insertAuditEvents = (db: Queryable, event: Omit<AuditRow, 'details'>, details: readonly object[]) =>
  db.run(sql('auth.insertAuditEvents')`
    insert into audit_events (id, actor_id, action, organization_id, resource_type, resource_id, subject_id, request_id, details)
    select id, ${event.actorId}::uuid, ${event.action}, ${organizationOf(event)}, ${event.resourceType}, ${event.resourceId}::uuid,
      ${event.subjectId}::uuid, ${event.requestId}, details
    from unnest(${details.map(() => randomUUIDv7())}::uuid[], ${details.map((each) => JSON.stringify(each))}::jsonb[]) as e (id, details)`);
