import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { ManagedMember } from './authority.model.ts';
import type { MembershipRole } from './organizations.model.ts';

/** Keeps an account from being closed until the transaction ends. Answers no row when the account is closed or does not exist. */
export const lockAccount = (db: Queryable, userId: string) =>
  db.one<{ id: string }>(sql('organizations.lockAccount')`select id from users where id = ${userId} and deleted_at is null for share`);

/** Locks an organization for a change of its members or of itself. */
export const lockOrganization = (db: Queryable, id: string) =>
  db.one<{ id: string; name: string; isPersonal: boolean }>(sql('organizations.lock')`
    select id, name, personal_user_id is not null as "isPersonal" from organizations where id = ${id} for no key update`);

export interface MemberRow extends ManagedMember {
  isOwner: boolean;
  isAdmin: boolean;
}

/** Locks every membership of an organization, and lists them in the order of the lock. */
export const lockMembers = (db: Queryable, organizationId: string) =>
  db.rows<MemberRow>(sql('organizations.lockMembers')`
    select id, organization_id as "organizationId", user_id as "userId", role, is_owner as "isOwner", is_admin as "isAdmin", created_at as "createdAt"
    from organization_members where organization_id = ${organizationId} order by organization_id, user_id for update`);

/** Lists the members of an organization who still have an account. */
export const listLiving = (db: Queryable, organizationId: string) =>
  db.rows<{ userId: string; isOwner: boolean; isAdmin: boolean }>(sql('organizations.listLiving')`
    select user_id as "userId", is_owner as "isOwner", is_admin as "isAdmin" from organization_staff where organization_id = ${organizationId}`);

export const insertMember = (db: Queryable, member: { organizationId: string; userId: string; role: MembershipRole }) =>
  db.one<MemberRow>(sql('organizations.insertMember')`
    insert into organization_members (id, organization_id, user_id, role)
    values (${randomUUIDv7()}, ${member.organizationId}, ${member.userId}, ${member.role})
    on conflict (organization_id, user_id) do nothing
    returning id, organization_id as "organizationId", user_id as "userId", role, is_owner as "isOwner", is_admin as "isAdmin", created_at as "createdAt"`);

export const updateMemberRole = (db: Queryable, id: string, role: MembershipRole) =>
  db.run(sql('organizations.updateMemberRole')`update organization_members set role = ${role} where id = ${id}`);

/** Ends a membership; the person's places in its teams end with it. */
export const deleteMember = (db: Queryable, id: string) =>
  db.run(sql('organizations.deleteMember')`delete from organization_members where id = ${id}`);

/** Marks pending invitations of a person to an organization as accepted, where they offer no more than the role that the person now holds. */
export const settleInvitations = (db: Queryable, organizationId: string, userId: string, roles: readonly MembershipRole[]) =>
  db.run(sql('organizations.settleInvitations')`
    update organization_invitations i set status = 'accepted'
    from users u
    where u.id = ${userId} and u.email_verified and i.email = u.email and i.organization_id = ${organizationId}
      and i.status = 'pending' and i.role = any (${roles}::text[])`);

/** Withdraws a person's own pending requests to join an organization that they are now in. */
export const settleRequests = (db: Queryable, organizationId: string, userId: string) =>
  db.run(sql('organizations.settleRequests')`
    update organization_join_requests set status = 'cancelled', decided_by = user_id, decided_at = now(), updated_at = now()
    where organization_id = ${organizationId} and user_id = ${userId} and status = 'pending'`);
