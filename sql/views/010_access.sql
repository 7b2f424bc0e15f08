-- Who may do what, and by which source: the one statement of access. Asked for one resource, or joined by every list.
-- Rank is the order of attribution: organization role, direct grant, team grant, organization grant, public.
-- A grant always has its resource (a foreign key says so): the outer joins are left out of a plan that asks nothing of the resource, which halves a decision.

create or replace view effective_access as
select
  source.user_id,
  source.resource_id,
  source.resource_type,
  source.organization_id,
  source.rank,
  source.source,
  (source.full_control or source.reads) as can_read,
  (source.full_control or (source.reads and source.resource_type = 'experiment' and source.rank < 5)) as can_contribute,
  source.full_control as can_update,
  source.full_control as can_share,
  source.full_control as can_manage,
  -- of the resource: lists go by these
  source.updated_at,
  source.is_archived
from (
  select m.user_id, r.id as resource_id, r.type as resource_type, r.organization_id, 1 as rank, 'organization-role' as source, m.is_admin as full_control, m.is_member as reads, r.updated_at, r.is_archived
  from organization_members m
  join resources r on r.organization_id = m.organization_id
  where m.is_member
  union all
  select g.user_id, g.resource_id, g.resource_type, r.organization_id, 2, 'user-grant', g.confers_all, g.confers_read, r.updated_at, r.is_archived
  from grants g
  left join resources r on r.id = g.resource_id
  where g.user_id is not null and g.confers_read
  union all
  select t.user_id, g.resource_id, g.resource_type, r.organization_id, 3, 'team-grant', g.confers_all, g.confers_read, r.updated_at, r.is_archived
  from team_members t
  join grants g on g.team_id = t.team_id
  left join resources r on r.id = g.resource_id
  where g.confers_read
  union all
  select m.user_id, g.resource_id, g.resource_type, r.organization_id, 4, 'organization-grant', g.confers_all, g.confers_read, r.updated_at, r.is_archived
  from organization_members m
  join grants g on g.organization_id = m.organization_id
  left join resources r on r.id = g.resource_id
  where g.confers_read
  union all
  select u.id, r.id, r.type, r.organization_id, 5, 'public', false, true, r.updated_at, r.is_archived
  from resources r
  cross join users u
  where r.visibility = 'public' or r.public_from <= now()
) source;

-- The decision procedure: no row for a resource that does not exist; `source` is the first that covers the action, null when none does.
create or replace function decide(caller uuid, asked_type text, resource uuid, action text)
returns table (organization_id uuid, source text) language sql stable parallel safe
as $$
  select r.organization_id, (
    select a.source
    from effective_access a
    where a.resource_id = r.id and a.user_id = caller
      and case action when 'read' then a.can_read when 'contribute' then a.can_contribute when 'update' then a.can_update
                      when 'share' then a.can_share when 'manage' then a.can_manage else false end
    order by a.rank
    limit 1)
  from resources r
  where r.id = resource and r.type = asked_type
$$;
