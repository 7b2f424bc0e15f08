import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { GranteeType, GrantRoleName, SharedType } from './sharing.model.ts';

// Locks are taken in one order everywhere: account, organization or its staff, resource, grants. A read that depends on a lock is a later statement, so that it
// sees the changes that the lock waited for.

/** Keeps accounts from being closed until the transaction ends, in id order. */
export const lockAccounts = (db: Queryable, userIds: readonly string[]) =>
  db.values<string>(sql('sharing.lockAccounts')`
    select id from users where id = any (${userIds}::uuid[]) and deleted_at is null order by id for share`);

/** Keeps the owners and admins of organizations as they are until the transaction ends, in id order. */
export const lockStaff = (db: Queryable, organizationIds: readonly string[]) =>
  db.run(sql('sharing.lockStaff')`
    select from organization_members where organization_id = any (${organizationIds}::uuid[]) and is_admin order by organization_id, user_id for share`);

/** Keeps a team or an organization from being deleted until the transaction ends. Answers no row when there is none. */
export const lockGrantee = (db: Queryable, granteeType: Exclude<GranteeType, 'user'>, granteeId: string) =>
  granteeType === 'team'
    ? db.one<{ id: string }>(sql('sharing.lockTeam')`select id from teams where id = ${granteeId} for key share`)
    : db.one<{ id: string }>(sql('sharing.lockOrganization')`select id from organizations where id = ${granteeId} for key share`);

export const findOwningOrganization = (db: Queryable, type: SharedType, id: string) =>
  db.one<{ organizationId: string }>(sql('sharing.findOwningOrganization')`
    select organization_id as "organizationId" from resources where id = ${id} and type = ${type}`);

/** Locks a resource for a change of its grants or its owner. After a wait only the locked row is read anew, so nothing is read of another. */
export const lockResource = (db: Queryable, type: SharedType, id: string) =>
  db.one<{ organizationId: string; name: string; isArchived: boolean }>(sql('sharing.lockResource')`
    select organization_id as "organizationId", name, is_archived as "isArchived"
    from resources where id = ${id} and type = ${type} for no key update`);

/** Whether an organization has a living owner or admin. */
export const hasStaff = (db: Queryable, organizationId: string) =>
  db.value<boolean>(sql('sharing.findIsStaffed')`
    select exists (select from organization_staff where organization_id = ${organizationId} and is_admin)`);

/** Finds the role flags of a person in an organization; no row for a person who is not in it. */
export const findMembership = (db: Queryable, organizationId: string, userId: string) =>
  db.one<{ isOwner: boolean; isAdmin: boolean }>(sql('sharing.findMembership')`
    select is_owner as "isOwner", is_admin as "isAdmin" from organization_staff where organization_id = ${organizationId} and user_id = ${userId}`);

/** Whether this grantee can be named by this sharer on a resource of this organization. */
export const isNameable = (db: Queryable, grantee: { type: GranteeType; id: string }, on: { organizationId: string; sharerId: string }) =>
  db.value<boolean>(sql('sharing.findIsNameable')`
      select case ${grantee.type}::text
        when 'user' then exists (select from people where user_id = ${grantee.id} and is_active)
        when 'team' then exists (select from teams where id = ${grantee.id} and organization_id = ${on.organizationId})
        else exists (select from organizations o join organization_members m on m.organization_id = o.id and m.user_id = ${on.sharerId}
                     where o.id = ${grantee.id} and o.personal_user_id is null)
        end`);

export interface GrantRow {
  id: string;
  granteeType: GranteeType;
  granteeId: string;
  role: GrantRoleName;
  /** Gives a person full control. */
  isStaffing: boolean;
  /** Gives full control to a person who is active, and so can use it. */
  isCover: boolean;
}

/** Locks and lists the grants of a resource that give a person full control, and the one that is about to change. */
export const lockGrants = (db: Queryable, resourceId: string, grantId: string) =>
  db.rows<GrantRow>(sql('sharing.lockGrants')`
    select g.id, g.grantee_type as "granteeType", g.grantee_id as "granteeId", g.role,
      g.user_id is not null and g.confers_all as "isStaffing",
      exists (select from covering_grants c where c.id = g.id) as "isCover"
    from grants g
    where g.resource_id = ${resourceId} and (g.id = ${grantId} or (g.user_id is not null and g.confers_all))
    order by g.id for update of g`);

export const findGrant = (db: Queryable, resourceId: string, granteeType: GranteeType, granteeId: string) =>
  db.one<{ id: string; role: string }>(sql('sharing.findGrant')`
    select id, role from grants where resource_id = ${resourceId} and grantee_type = ${granteeType} and grantee_id = ${granteeId}`);

interface NewGrantRow {
  resourceId: string;
  resourceType: SharedType;
  granteeType: GranteeType;
  granteeId: string;
  role: GrantRoleName;
  createdBy: string;
}

export const insertGrant = (db: Queryable, grant: NewGrantRow) => {
  const of = (type: GranteeType) => (grant.granteeType === type ? grant.granteeId : null);
  return db.run(sql('sharing.insertGrant')`
    insert into grants (id, resource_id, resource_type, user_id, team_id, organization_id, role, created_by)
    values (${randomUUIDv7()}, ${grant.resourceId}, ${grant.resourceType}, ${of('user')}, ${of('team')}, ${of('organization')}, ${grant.role}, ${grant.createdBy})
    on conflict do nothing`);
};

export const updateGrantRole = (db: Queryable, id: string, role: GrantRoleName) =>
  db.run(sql('sharing.updateGrantRole')`update grants set role = ${role}, updated_at = now() where id = ${id}`);

export const deleteGrant = (db: Queryable, id: string) => db.run(sql('sharing.deleteGrant')`delete from grants where id = ${id}`);

/** Moves a resource to another organization. Grants to teams are deleted, because the teams belong to the former organization. */
export const moveResource = (db: Queryable, id: string, organizationId: string) =>
  db.run(sql('sharing.moveResource')`
    with left_behind as (delete from grants where resource_id = ${id} and team_id is not null)
    update resources set organization_id = ${organizationId}, updated_at = now(), version = version + 1 where id = ${id}`);

/** Whether this person's account cannot be deleted because of this resource. */
export const isBlocking = (db: Queryable, userId: string, resourceId: string) =>
  db.value<boolean>(sql('sharing.findIsBlocking')`
    select exists (select from deletion_blockers(${userId}) b where b.resource_id = ${resourceId})`);
