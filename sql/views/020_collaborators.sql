-- Rows that the collaborator list of a resource shows: its living owners, one row for all admins and one for all members that hold no grant
-- of their own, and every grant but an owner's own. For a page of resources, each with its organization, whose people are read once.
drop function if exists collaborator_count(uuid);
create or replace function collaborators_of(resources uuid[], organizations uuid[])
returns table (resource_id uuid, collaborators integer) language sql stable parallel safe rows 100
as $$
  with staff as materialized (
    select m.organization_id,
      array_agg(m.user_id) filter (where m.is_owner) as owners,
      array_agg(m.user_id) filter (where m.is_admin and not m.is_owner) as admins,
      array_agg(m.user_id) filter (where m.is_member and not m.is_admin) as members
    from organization_members m
    join users u on u.id = m.user_id and u.deleted_at is null
    where m.organization_id = any (organizations)
    group by m.organization_id
  )
  select asked.resource_id, (held.grants
    + coalesce(cardinality(staff.owners), 0) - held.owners
    + case when held.admins < cardinality(staff.admins) then 1 else 0 end
    + case when held.members < cardinality(staff.members) then 1 else 0 end)::integer
  from unnest(resources, organizations) as asked (resource_id, organization_id)
  left join staff on staff.organization_id = asked.organization_id
  cross join lateral (
    -- a person has one grant of a resource and one membership, so that who has both is counted and not looked up
    select count(*) as grants, count(*) filter (where g.user_id = any (staff.owners)) as owners,
      count(*) filter (where g.user_id = any (staff.admins)) as admins, count(*) filter (where g.user_id = any (staff.members)) as members
    from grants g where g.resource_id = asked.resource_id) held
$$;

create or replace view collaborator_counts as
select r.id as resource_id, c.collaborators from resources r cross join lateral collaborators_of(array[r.id], array[r.organization_id]) c;
