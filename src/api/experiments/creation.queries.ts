import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** Where a new resource of this caller goes, and whether their role there already gives full control under a living owner. */
export const findHome = (db: Queryable, userId: string, organizationId: string | null) =>
  db.one<{ organizationId: string; isAnswerable: boolean }>(sql('experiments.findHome')`
    select o.id as "organizationId",
      m.is_admin and exists (select from organization_members owner join users u on u.id = owner.user_id and u.deleted_at is null
                             where owner.organization_id = o.id and owner.is_owner) as "isAnswerable"
    from organizations o
    join organization_members m on m.organization_id = o.id and m.user_id = ${userId}
    where case when ${organizationId}::uuid is null then o.personal_user_id = ${userId} else o.id = ${organizationId}::uuid end
    for share of m`);

/** A direct grant; one that is there keeps its role when it is the stronger. */
export const insertUserGrant = (
  db: Queryable,
  grant: { resourceId: string; resourceType: string; userId: string; role: string; createdBy: string },
) =>
  db.run(sql('experiments.insertUserGrant')`
    insert into grants (id, resource_id, resource_type, user_id, role, created_by)
    values (${randomUUIDv7()}, ${grant.resourceId}, ${grant.resourceType}, ${grant.userId}, ${grant.role}, ${grant.createdBy})
    on conflict (user_id, resource_id) where user_id is not null do nothing`);

/** Which of these people can be given something. */
export const listActivePeople = (db: Queryable, userIds: readonly string[]) =>
  db.rows<{ userId: string }>(
    sql('experiments.listActivePeople')`select user_id as "userId" from people where user_id = any (${userIds}::uuid[]) and is_active`,
  );
