-- Who answers for a resource, and who knows whom.

-- Members whose account is not closed, with what their role string confers.
create or replace view organization_staff as
select m.organization_id, m.user_id, m.is_owner, m.is_admin, m.is_member, m.created_at
from organization_members m
join users u on u.id = m.user_id and u.deleted_at is null;

-- Direct grants of full control whose holder can act on them.
create or replace view covering_grants as
select g.id, g.resource_id, g.user_id
from grants g
join people p on p.user_id = g.user_id and p.is_active
where g.confers_all;

-- Resources that nobody would answer for without this person: they are the last living owner of the owning organization, or the last of its staff
-- when it has no owner, or hold full control where it has neither; and nobody else holds a grant of full control.
create or replace function deletion_blockers(person uuid) returns table (resource_id uuid) language sql stable parallel safe
as $$
  select r.id
  from (
    select r.id, r.organization_id from organization_members m join resources r on r.organization_id = m.organization_id where m.user_id = person and m.is_admin
    union
    select r.id, r.organization_id from grants g join resources r on r.id = g.resource_id where g.user_id = person and g.confers_all
  ) r
  left join organization_members own on own.organization_id = r.organization_id and own.user_id = person
  where not exists (
      select from organization_staff s
      where s.organization_id = r.organization_id and s.user_id <> person and (s.is_owner or (s.is_admin and not coalesce(own.is_owner, false))))
    and not exists (select from covering_grants c where c.resource_id = r.id and c.user_id <> person)
$$;

-- Resources that a person reaches by a grant: their own, a team's, an organization's.
create or replace view granted_resources as
select user_id, resource_id from grants where user_id is not null and confers_read
union all
select t.user_id, g.resource_id from team_members t join grants g on g.team_id = t.team_id and g.confers_read
union all
select m.user_id, g.resource_id from organization_members m join grants g on g.organization_id = m.organization_id and g.confers_read;

-- Whether two people share an organization or a resource, which is when one may see the other's address.
create or replace function knows(viewer uuid, person uuid) returns boolean language sql stable parallel safe
  return viewer = person
    or exists (select from organization_members mine join organization_members theirs on theirs.organization_id = mine.organization_id
               where mine.user_id = viewer and theirs.user_id = person)
    or exists (select from granted_resources theirs join granted_resources mine on mine.resource_id = theirs.resource_id and mine.user_id = viewer
               where theirs.user_id = person)
    or exists (select from granted_resources theirs join resources r on r.id = theirs.resource_id
               join organization_members mine on mine.organization_id = r.organization_id and mine.user_id = viewer
               where theirs.user_id = person)
    or exists (select from granted_resources mine join resources r on r.id = mine.resource_id
               join organization_members theirs on theirs.organization_id = r.organization_id and theirs.user_id = person
               where mine.user_id = viewer);

-- Whom of many people somebody knows: `knows`, asked once for a page of them. A property test holds the two together.
create or replace function acquainted(viewer uuid, people uuid[]) returns setof uuid language sql stable parallel safe
as $$
  select viewer where viewer = any (people)
  union
  select theirs.user_id from organization_members mine join organization_members theirs on theirs.organization_id = mine.organization_id
  where mine.user_id = viewer and theirs.user_id = any (people)
  union
  select theirs.user_id from granted_resources theirs
  where theirs.user_id = any (people)
    and theirs.resource_id in (
      select resource_id from granted_resources where user_id = viewer
      union all
      select r.id from organization_members mine join resources r on r.organization_id = mine.organization_id where mine.user_id = viewer)
  union
  select theirs.user_id
  from granted_resources mine join resources r on r.id = mine.resource_id join organization_members theirs on theirs.organization_id = r.organization_id
  where mine.user_id = viewer and theirs.user_id = any (people)
$$;
