import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { JoinRequestStatus, OrganizationJoinRequest } from './organizations.model.ts';

const columns = fragment`
  j.id, j.organization_id as "organizationId",
  json_build_object('id', p.user_id, 'firstName', p.first_name, 'lastName', p.last_name, 'email', p.email, 'avatarUrl', p.avatar_url) as "user",
  j.message, j.status, j.decided_by as "decidedBy", j.decided_at as "decidedAt", j.created_at as "createdAt", j.updated_at as "updatedAt"`;

/** Lists requests, decided ones too. Pending requests come first, then the newest. */
export const listJoinRequests = (db: Queryable, organizationId: string) =>
  db.rows<OrganizationJoinRequest>(sql('organizations.listJoinRequests')`
    select ${columns} from organization_join_requests j join people p on p.user_id = j.user_id
    where j.organization_id = ${organizationId}
    order by j.status <> 'pending', j.created_at desc, j.id desc limit 1000`);

export const findJoinRequest = (db: Queryable, organizationId: string, id: string) =>
  db.one<OrganizationJoinRequest>(sql('organizations.findJoinRequest')`
    select ${columns} from organization_join_requests j join people p on p.user_id = j.user_id
    where j.organization_id = ${organizationId} and j.id = ${id}`);

export const findPendingRequest = (db: Queryable, organizationId: string, userId: string) =>
  db.one<OrganizationJoinRequest>(sql('organizations.findPendingRequest')`
    select ${columns} from organization_join_requests j join people p on p.user_id = j.user_id
    where j.organization_id = ${organizationId} and j.user_id = ${userId} and j.status = 'pending'`);

/** Adds a request. Answers 0 when one is pending already. */
export const insertJoinRequest = (db: Queryable, request: { id: string; organizationId: string; userId: string; message: string | null }) =>
  db.run(sql('organizations.insertJoinRequest')`
    insert into organization_join_requests (id, organization_id, user_id, message)
    values (${request.id}, ${request.organizationId}, ${request.userId}, ${request.message})
    on conflict (organization_id, user_id) where status = 'pending' do nothing`);

/** Decides a request. Answers 0 when it was decided meanwhile. */
export const decideJoinRequest = (db: Queryable, id: string, decision: { status: JoinRequestStatus; decidedBy: string }) =>
  db.run(sql('organizations.decideJoinRequest')`
    update organization_join_requests set status = ${decision.status}, decided_by = ${decision.decidedBy}, decided_at = now(), updated_at = now()
    where id = ${id} and status = 'pending'`);
