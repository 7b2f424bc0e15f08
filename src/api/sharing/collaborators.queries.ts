import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Collaborator, GranteeOrganization, GranteeTeam, GranteeUser } from './sharing.model.ts';

/**
 * Lists everyone who answers for or reaches a resource. Living owners, admins and members of its organization come first, as one row each; then grants, newest
 * first. A person without a profile is shown to `viewerId` by the invited address, if `viewerId` invited them.
 */
export const listCollaborators = (db: Queryable, resourceId: string, viewerId: string): Promise<Collaborator[]> =>
  db.values<Collaborator>(sql('sharing.listCollaborators')`
    with r as (select id, organization_id from resources where id = ${resourceId}),
    staff as (
      select s.*, g.id as grant_id, g.role as grant_role, o.name as organization_name
      from r
      join organizations o on o.id = r.organization_id
      join organization_staff s on s.organization_id = r.organization_id
      left join grants g on g.resource_id = r.id and g.user_id = s.user_id
    )
    select entry from (
      select 1 as section, row_number() over (order by u.created_at, u.id) as position, json_build_object(
          'kind', 'owner', 'granteeType', 'user', 'granteeId', s.user_id, 'organizationName', s.organization_name,
          'grantee', json_build_object('type', 'user', 'displayName', p.first_name || ' ' || p.last_name, 'email', p.email, 'avatarUrl', p.avatar_url, 'memberCount', null),
          'inertGrant', case when s.grant_id is not null then json_build_object('id', s.grant_id, 'role', s.grant_role) end) as entry
      from staff s join users u on u.id = s.user_id join people p on p.user_id = s.user_id
      where s.is_owner
      union all
      select 2, 0, json_build_object('kind', 'orgAdmins', 'organizationId', organization_id, 'organizationName', organization_name, 'adminCount', count(*))
      from staff where is_admin and not is_owner and grant_id is null group by organization_id, organization_name
      union all
      select 3, 0, json_build_object('kind', 'orgMembers', 'organizationId', organization_id, 'organizationName', organization_name, 'memberCount', count(*))
      from staff where is_member and not is_admin and grant_id is null group by organization_id, organization_name
      union all
      select 4, row_number() over (order by g.created_at desc, g.id desc), json_build_object(
          'kind', 'grant', 'id', g.id, 'resourceType', g.resource_type, 'resourceId', g.resource_id,
          'granteeType', g.grantee_type, 'granteeId', g.grantee_id, 'role', g.role,
          'createdAt', to_char(g.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'createdBy', g.created_by,
          'isOutsideCollaborator', case g.grantee_type when 'user' then m.user_id is null when 'organization' then g.organization_id <> r.organization_id else false end,
          'grantee', json_build_object('type', g.grantee_type,
            'displayName', coalesce(invited.email, p.first_name || ' ' || p.last_name, t.name, o.name), 'email', coalesce(invited.email, p.email), 'avatarUrl', coalesce(p.avatar_url, o.logo),
            'memberCount', case when t.id is not null then (select count(*) from team_members tm where tm.team_id = t.id) end),
          'owningOrganization', case when m.is_member then json_build_object('id', owning.id, 'name', owning.name, 'role', case when m.is_admin then 'admin' else 'member' end) end)
      from r
      join organizations owning on owning.id = r.organization_id
      join grants g on g.resource_id = r.id
      left join people p on p.user_id = g.user_id
      left join users u on u.id = g.user_id and u.deleted_at is null and not p.is_active
      left join lateral (
        select i.email from invitations i
        where i.resource_id = r.id and i.invited_by = ${viewerId} and i.status = 'accepted' and i.email = u.email limit 1) invited on true
      left join teams t on t.id = g.team_id
      left join organizations o on o.id = g.organization_id
      left join organization_members m on m.organization_id = r.organization_id and m.user_id = g.user_id
      where not coalesce(m.is_owner, false)
    ) entries
    order by section, position`);

export const listGranteeTeams = (db: Queryable, resourceId: string) =>
  db.rows<GranteeTeam>(sql('sharing.listGranteeTeams')`
    select t.id, t.name, t.organization_id as "organizationId", (select count(*)::integer from team_members m where m.team_id = t.id) as "memberCount"
    from resources r join teams t on t.organization_id = r.organization_id
    where r.id = ${resourceId}
    order by t.name, t.id`);

/** Lists organizations of the caller, without personal workspaces. */
export const listGranteeOrganizations = (db: Queryable, userId: string, query: string, limit: number) =>
  db.rows<GranteeOrganization>(sql('sharing.listGranteeOrganizations')`
    select o.id, o.name, o.slug
    from organization_members m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and o.personal_user_id is null and position(lower(${query}) in lower(o.name)) > 0
    order by o.name, o.id limit ${limit}`);

/** What people hold already in the resource and in the organization that owns it; a row for each of them. */
export const listHoldings = (db: Queryable, resourceId: string, userIds: readonly string[]) =>
  db.rows<Pick<GranteeUser, 'userId' | 'organizationRole' | 'existingGrantRole'>>(sql('sharing.listHoldings')`
    select asked.user_id as "userId",
      case when m.is_owner then 'owner' when m.is_admin then 'admin' when m.is_member then 'member' end as "organizationRole",
      g.role as "existingGrantRole"
    from unnest(${userIds}::uuid[]) asked(user_id)
    join resources r on r.id = ${resourceId}
    left join organization_members m on m.organization_id = r.organization_id and m.user_id = asked.user_id
    left join grants g on g.resource_id = r.id and g.user_id = asked.user_id`);
