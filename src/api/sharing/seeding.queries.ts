import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** Finds where a new resource of this caller goes, and whether their role there already gives full control under a living owner. */
export const findHome = (db: Queryable, userId: string, organizationId: string | null) =>
  db.one<{ organizationId: string; isAnswerable: boolean }>(sql('sharing.findHome')`
    select o.id as "organizationId",
      m.is_admin and exists (select from organization_staff owner where owner.organization_id = o.id and owner.is_owner) as "isAnswerable"
    from users u
    join organization_members m on m.user_id = u.id
    join organizations o on o.id = m.organization_id
    where u.id = ${userId} and u.deleted_at is null
      and case when ${organizationId}::uuid is null then o.personal_user_id = ${userId} else o.id = ${organizationId}::uuid end
    for share of u, m`);

/** Lists those of these people who can be given a grant. */
export const listActivePeople = (db: Queryable, userIds: readonly string[]) =>
  db.values<string>(sql('sharing.listActivePeople')`
    select user_id from people where user_id = any (${userIds}::uuid[]) and is_active`);
