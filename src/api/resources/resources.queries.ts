import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Visibility } from './resources.model.ts';

/** Where a new resource of this caller goes, and whether their role there already gives full control under a living owner. */
export const findHome = (db: Queryable, userId: string, organizationId: string | null) =>
  db.one<{ organizationId: string; isAnswerable: boolean }>(sql('resources.findHome')`
    select o.id as "organizationId",
      m.is_admin and exists (select from organization_members owner join users u on u.id = owner.user_id and u.deleted_at is null
                             where owner.organization_id = o.id and owner.is_owner) as "isAnswerable"
    from organizations o
    join organization_members m on m.organization_id = o.id and m.user_id = ${userId}
    where case when ${organizationId}::uuid is null then o.personal_user_id = ${userId} else o.id = ${organizationId}::uuid end
    for share of m`);

/** A direct grant; one that is there keeps its role. */
export const insertUserGrant = (
  db: Queryable,
  grant: { resourceId: string; resourceType: string; userId: string; role: string; createdBy: string },
) =>
  db.run(sql('resources.insertUserGrant')`
    insert into grants (id, resource_id, resource_type, user_id, role, created_by)
    values (${randomUUIDv7()}, ${grant.resourceId}, ${grant.resourceType}, ${grant.userId}, ${grant.role}, ${grant.createdBy})
    on conflict (user_id, resource_id) where user_id is not null do nothing`);

export interface ResourceRow {
  id: string;
  type: string;
  organizationId: string;
  visibility: Visibility;
  name: string;
  description: string | null;
  createdBy: string;
}

export const insertResource = (db: Queryable, row: ResourceRow) =>
  db.run(sql('resources.insert')`
    insert into resources (id, type, organization_id, visibility, name, description, created_by)
    values (${row.id}, ${row.type}, ${row.organizationId}, ${row.visibility}, ${row.name}, ${row.description}, ${row.createdBy})`);

/** Locks the row for a change and says what state it is in. */
export const lockResource = (db: Queryable, type: string, id: string) =>
  db.one<{ visibility: Visibility; version: number; organizationId: string }>(sql('resources.lock')`
    select visibility, version, organization_id as "organizationId" from resources where id = ${id} and type = ${type} for update`);

/** Sets what is given and raises the version. */
export const touchResource = (db: Queryable, id: string, changes: { name?: string | undefined; description?: string | null | undefined }) =>
  db.run(sql('resources.touch')`
    update resources set
      name = coalesce(${changes.name ?? null}, name),
      description = case when ${changes.description !== undefined} then ${changes.description ?? null} else description end,
      updated_at = now(), version = version + 1
    where id = ${id}`);

export const makePublic = (db: Queryable, id: string) =>
  db.run(sql('resources.makePublic')`
    update resources set visibility = 'public', updated_at = now(), version = version + 1 where id = ${id} and visibility = 'private'`);

/** Removes the resource; its row of its type, its grants and its links go with it. */
export const deleteResource = (db: Queryable, type: string, id: string) =>
  db.run(sql('resources.delete')`delete from resources where id = ${id} and type = ${type}`);

export interface CodeVersionRow {
  resourceId: string;
  version: number;
  code: string;
  kind: string;
  createdBy: string;
}

export const insertCodeVersion = (db: Queryable, row: CodeVersionRow) =>
  db.run(sql('resources.insertCodeVersion')`
    insert into code_versions (resource_id, version, code, kind, created_by)
    values (${row.resourceId}, ${row.version}, ${row.code}, ${row.kind}, ${row.createdBy})`);
