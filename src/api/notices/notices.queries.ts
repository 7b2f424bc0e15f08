import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export const findOrganizationInvitation = (db: Queryable, id: string) =>
  db.one<{ email: string; organization: string; role: string; by: string; byId: string }>(sql('notices.organizationInvitation')`
    select i.email, o.name as organization, i.role, p.first_name || ' ' || p.last_name as by,
      i.inviter_id as "byId"
    from organization_invitations i join organizations o on o.id = i.organization_id join people p on p.user_id = i.inviter_id
    where i.id = ${id} and i.status = 'pending' and i.expires_at > now()`);

export const findResourceInvitation = (db: Queryable, id: string) =>
  db.one<{
    email: string;
    kind: string;
    name: string | null;
    tier: string;
    resourceId: string | null;
    by: string;
    byId: string;
    isPending: boolean;
  }>(sql('notices.resourceInvitation')`
    select i.email, i.resource_type as kind, r.name, i.tier, i.resource_id as "resourceId", p.first_name || ' ' || p.last_name as by,
      i.invited_by as "byId", i.status = 'pending' as "isPending"
    from invitations i left join resources r on r.id = i.resource_id join people p on p.user_id = i.invited_by
    where i.id = ${id} and i.expires_at > now() and (i.status = 'pending' or i.status = 'accepted' and i.resource_id is not null)`);

export interface RequestFacts {
  targetId: string;
  /** Of the page of what they ask to join. */
  path: string;
  to: string;
  by: string;
  requesterId: string;
  message: string | null;
  status: string;
  /** Null for a closed or hidden account: nobody to write to. */
  requesterEmail: string | null;
}

const findOrganizationRequest = (db: Queryable, id: string) =>
  db.one<RequestFacts>(sql('notices.organizationRequest')`
    select j.organization_id as "targetId", 'organizations/' || j.organization_id as path, o.name as "to", p.first_name || ' ' || p.last_name as by, j.user_id as "requesterId", j.message, j.status, p.email as "requesterEmail"
    from organization_join_requests j join organizations o on o.id = j.organization_id join people p on p.user_id = j.user_id
    where j.id = ${id}`);

const findExperimentRequest = (db: Queryable, id: string) =>
  db.one<RequestFacts>(sql('notices.experimentRequest')`
    select j.experiment_id as "targetId", 'experiments/' || j.experiment_id as path, r.name as "to", p.first_name || ' ' || p.last_name as by, j.user_id as "requesterId", j.message, j.status, p.email as "requesterEmail"
    from experiment_join_requests j join resources r on r.id = j.experiment_id join people p on p.user_id = j.user_id
    where j.id = ${id}`);

/** Finds the request to join that a notice is about. */
export const findRequest = (db: Queryable, { kind, requestId }: { kind: string; requestId: string }) =>
  (kind.startsWith('experiment-') ? findExperimentRequest : findOrganizationRequest)(db, requestId);

/** Finds the address of an active person. */
export const findAddress = (db: Queryable, userId: string) =>
  db.one<{ email: string | null }>(sql('notices.address')`select email from people where user_id = ${userId} and is_active`);
