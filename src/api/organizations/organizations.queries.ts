import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, nothing, sql } from '../../database/sql.ts';
import type {
  AuditEvent,
  DeletionBlocker,
  OrganizationDetail,
  OrganizationListItem,
  OrganizationMember,
  OrganizationResource,
  OrganizationTeam,
  OwnOrganization,
  ResourceTotals,
  TeamGrant,
} from './organizations.model.ts';

const memberCount = fragment`(select count(*)::integer from organization_staff s where s.organization_id = o.id)`;
const role = fragment`case when m.is_owner then 'owner' when m.is_admin then 'admin' when m.user_id is not null then 'member' end`;

const membershipStatus = (userId: string) => fragment`
  case when m.user_id is not null then 'member'
       when exists (select from organization_join_requests j where j.organization_id = o.id and j.user_id = ${userId} and j.status = 'pending') then 'pending_request'
       else 'none' end`;

/** Counts the resources of an organization that somebody can read. For a member these are all of them. */
const resourceCount = (userId: string) => fragment`
  case when m.is_member then (select count(*)::integer from resources r where r.organization_id = o.id)
       else (select count(distinct a.resource_id)::integer from effective_access a where a.organization_id = o.id and a.user_id = ${userId} and a.can_read) end`;

/** Selects public organizations and the caller's own, without personal workspaces. */
const directory = (asked: { userId: string; search: string }) => {
  const pattern = `%${asked.search.replace(/[\\%_]/g, '\\$&')}%`;
  return fragment`
    from organizations o
    left join organization_members m on m.organization_id = o.id and m.user_id = ${asked.userId}
    where o.personal_user_id is null and (o.visibility = 'public' or m.user_id is not null)
      and (${asked.search} = '' or o.name ilike ${pattern} or o.description ilike ${pattern})`;
};

export const listDirectory = (db: Queryable, asked: { userId: string; search: string }, page: Slice) =>
  db.rows<OrganizationListItem>(sql('organizations.listDirectory')`
    select o.id, o.name, o.slug, o.logo, o.type, o.description, o.location, ${memberCount} as "memberCount",
      ${resourceCount(asked.userId)} as "resourceCount", o.visibility, ${membershipStatus(asked.userId)} as "membershipStatus"
    ${directory(asked)}
    order by lower(o.name), o.id limit ${page.limit} offset ${page.offset}`);

export const countDirectory = (db: Queryable, asked: { userId: string; search: string }) =>
  db.count(sql('organizations.countDirectory')`select count(*) as count ${directory(asked)}`);

export const listOwnOrganizations = (db: Queryable, userId: string) =>
  db.rows<OwnOrganization>(sql('organizations.listOwn')`
    select o.id, o.name, o.slug, o.description, o.visibility, ${role} as role, o.personal_user_id is not null as "isPersonal",
      ${memberCount} as "memberCount", ${resourceCount(userId)} as "resourceCount"
    from organization_members m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId}
    order by lower(o.name), o.id`);

/** Finds an organization. Answers no row when there is none or this caller may not see it. */
export const findOrganization = (db: Queryable, id: string, userId: string) =>
  db.one<OrganizationDetail & { version: number }>(sql('organizations.find')`
    select o.id, o.name, o.slug, o.logo, o.type, o.description, o.website, o.location, o.visibility, ${memberCount} as "memberCount",
      ${resourceCount(userId)} as "resourceCount", o.created_at as "createdAt", ${role} as role, ${membershipStatus(userId)} as "membershipStatus",
      (extract(epoch from o.updated_at) * 1000000)::bigint as version
    from organizations o
    left join organization_members m on m.organization_id = o.id and m.user_id = ${userId}
    where o.id = ${id} and o.personal_user_id is null and (o.visibility = 'public' or m.user_id is not null)`);

export interface Standing {
  isMember: boolean;
  isAdmin: boolean;
  isOwner: boolean;
  isPublic: boolean;
  isPersonal: boolean;
  name: string;
}

/** Finds what somebody is in an organization. Answers no row when there is no such organization. */
export const findStanding = (db: Queryable, id: string, userId: string) =>
  db.one<Standing>(sql('organizations.findStanding')`
    select m.user_id is not null as "isMember", coalesce(m.is_admin, false) as "isAdmin", coalesce(m.is_owner, false) as "isOwner",
      o.visibility = 'public' as "isPublic", o.personal_user_id is not null as "isPersonal", o.name
    from organizations o left join organization_members m on m.organization_id = o.id and m.user_id = ${userId}
    where o.id = ${id}`);

const readable = (id: string, userId: string) => fragment`
  select distinct a.resource_id as id from effective_access a where a.organization_id = ${id} and a.user_id = ${userId} and a.can_read`;

type OfType = 'status' | 'family' | 'language' | 'deviceType' | 'memberCount';
type ResourceRow = Omit<OrganizationResource, OfType> & { ofType: Pick<OrganizationResource, OfType> };

/** Lists the resources of an organization that the caller can read, last changed first. Archived experiments are included. */
export const listResources = async (db: Queryable, id: string, userId: string, page: Slice) => {
  const rows = await db.rows<ResourceRow>(sql('organizations.listResources')`
    with page as (
      select r.* from (${readable(id, userId)}) reachable join resources r on r.id = reachable.id
      order by r.updated_at desc, r.id desc limit ${page.limit} offset ${page.offset}
    )
    select r.id, r.name, r.description, case when r.visibility = 'public' or r.public_from <= now() then 'public' else 'private' end as visibility,
      r.updated_at as "updatedAt", n.collaborators as "collaboratorCount", r.type, jsonb_strip_nulls(jsonb_build_object(
        'status', e.status, 'family', p.family, 'language', c.language, 'deviceType', d.device_type,
        'memberCount', case r.type when 'device_group' then (select count(*) from device_group_members m where m.group_id = r.id) end)) as "ofType"
    from page r
    join collaborator_counts n on n.resource_id = r.id
    left join experiments e on e.id = r.id
    left join protocols p on p.id = r.id
    left join macros c on c.id = r.id
    left join devices d on d.id = r.id
    order by r.updated_at desc, r.id desc`);
  return rows.map(({ ofType, ...row }): OrganizationResource => ({ ...row, ...ofType }));
};

export const countResources = (db: Queryable, id: string, userId: string) =>
  db.rows<{ type: keyof ResourceTotals; count: number }>(sql('organizations.countResources')`
    select r.type, count(*) as count from (${readable(id, userId)}) reachable join resources r on r.id = reachable.id group by r.type`);

export const listMembers = (db: Queryable, id: string) =>
  db.rows<OrganizationMember>(sql('organizations.listMembers')`
    select p.user_id as "userId", p.first_name as "firstName", p.last_name as "lastName", p.email, p.avatar_url as "avatarUrl", m.role, m.created_at as "joinedAt"
    from organization_members m join people p on p.user_id = m.user_id
    where m.organization_id = ${id}
    order by m.created_at, m.id`);

/** Counts everything that an organization owns, by type, whoever may read it. */
export const listBlockers = (db: Queryable, id: string) =>
  db.rows<DeletionBlocker>(sql('organizations.listBlockers')`
    select type as "resourceType", count(*) as count from resources where organization_id = ${id} group by type order by type`);

export const listTeams = (db: Queryable, id: string) =>
  db.rows<OrganizationTeam>(sql('organizations.listTeams')`
    select t.id, t.name, t.organization_id as "organizationId", t.created_at as "createdAt", coalesce((
        select json_agg(json_build_object('userId', p.user_id, 'firstName', p.first_name, 'lastName', p.last_name, 'email', p.email, 'avatarUrl', p.avatar_url)
          order by m.created_at, m.id)
        from team_members m join people p on p.user_id = m.user_id where m.team_id = t.id), '[]') as members
    from teams t where t.organization_id = ${id}
    order by t.name, t.id`);

export const listTeamGrants = (db: Queryable, id: string) =>
  db.rows<TeamGrant>(sql('organizations.listTeamGrants')`
    select g.id, g.team_id as "teamId", g.resource_type as "resourceType", g.resource_id as "resourceId", r.name as "resourceName", g.role
    from teams t join grants g on g.team_id = t.id join resources r on r.id = g.resource_id
    where t.organization_id = ${id}
    order by r.name, g.id`);

/** A filter on an organization's log; an empty one asks for the whole log. */
export interface AuditFilter {
  actorId?: string | undefined;
  action?: string | undefined;
  resourceId?: string | undefined;
  /** Start of the range, which belongs to it. */
  from?: Date | undefined;
  /** End of the range, which does not belong to it. */
  to?: Date | undefined;
}

const auditOf = (id: string, { actorId, action, resourceId, from, to }: AuditFilter) => fragment`
  audit_events where organization_id = ${id}
  ${actorId === undefined ? nothing : fragment`and actor_id = ${actorId}`}
  ${action === undefined ? nothing : fragment`and action = ${action}`}
  ${resourceId === undefined ? nothing : fragment`and resource_id = ${resourceId}`}
  ${from === undefined ? nothing : fragment`and at >= ${from}`}
  ${to === undefined ? nothing : fragment`and at < ${to}`}`;

export const listAuditEvents = (db: Queryable, id: string, filter: AuditFilter, page: Slice) =>
  db.rows<AuditEvent>(sql('organizations.listAuditEvents')`
    select id, at, actor_id as "actorId", action, resource_type as "resourceType", resource_id as "resourceId", subject_id as "subjectId",
      request_id as "requestId", details
    from ${auditOf(id, filter)}
    order by at desc, id desc limit ${page.limit} offset ${page.offset}`);

export const countAuditEvents = (db: Queryable, id: string, filter: AuditFilter, most: number) =>
  db.count(sql('organizations.countAuditEvents')`
    select count(*) as count from (select from ${auditOf(id, filter)} limit ${most}) counted`);
