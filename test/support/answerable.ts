import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

/** What must hold of people, organizations and grants whatever was done at once; every row is a breach. */
export const breaches = (db: Database) =>
  db.rows<{ rule: string; id: string }>(sql('t')`
    select 'a resource without anybody answerable' as rule, r.id::text as id
    from resources r
    where not exists (select from organization_staff s where s.organization_id = r.organization_id and s.is_admin)
      and not exists (select from grants g join users u on u.id = g.user_id and u.deleted_at is null where g.resource_id = r.id and g.confers_all)
    union all
    select 'a grant naming what is not there', g.id::text
    from grants g
    where not exists (select from resources r where r.id = g.resource_id)
      or (g.user_id is not null and not exists (select from users u where u.id = g.user_id and u.deleted_at is null))
      or (g.team_id is not null and not exists (select from teams t where t.id = g.team_id))
      or (g.organization_id is not null and not exists (select from organizations o where o.id = g.organization_id))
    union all
    select 'two grants for one grantee', min(g.id::text)
    from grants g group by g.resource_id, g.grantee_type, g.grantee_id having count(*) > 1
    union all
    select 'a grant to a team of another organization', g.id::text
    from grants g join teams t on t.id = g.team_id join resources r on r.id = g.resource_id where t.organization_id <> r.organization_id
    union all
    select 'a role that is not canonical', m.id::text from organization_members m where m.role not in ('owner', 'admin', 'member')
    union all
    select 'two memberships', min(m.id::text) from organization_members m group by m.organization_id, m.user_id having count(*) > 1
    union all
    select 'a personal workspace that is not solely its owner’s, or of anybody once the account is closed', o.id::text
    from organizations o join users u on u.id = o.personal_user_id
    where (select array_agg((m.user_id = o.personal_user_id and m.role = 'owner')) from organization_members m where m.organization_id = o.id)
      is distinct from case when u.deleted_at is null then array[true] end
    union all
    select 'an organization without an owner', o.id::text
    from organizations o
    where o.personal_user_id is null and not exists (select from organization_staff s where s.organization_id = o.id and s.is_owner)
    union all
    select 'a team member who is not in the organization', t.id::text
    from team_members t where not exists (select from organization_members m where m.organization_id = t.organization_id and m.user_id = t.user_id)
    union all
    select 'a closed account that can act', u.id::text
    from users u
    where u.deleted_at is not null
      and (exists (select from api_keys k where k.user_id = u.id) or exists (select from sessions s where s.user_id = u.id)
        or exists (select from organization_members m join organizations o on o.id = m.organization_id where m.user_id = u.id and o.personal_user_id is null))
    union all
    select 'a person with two pending requests', min(j.id::text)
    from organization_join_requests j where j.status = 'pending' group by j.organization_id, j.user_id having count(*) > 1
    union all
    select 'more than 100 members', m.organization_id::text from organization_members m group by m.organization_id having count(*) > 100`);
