-- Rows that the collaborator list of a resource shows: its living owners, one row for all admins and one for all members that hold no grant
-- of their own, and every grant but an owner's own.
drop function if exists collaborator_count(uuid);
create or replace view collaborator_counts as
select r.id as resource_id, coalesce((
  select (count(*) filter (where m.is_owner)
      + max(case when m.is_admin and not m.is_owner and m.user_id <> all (g.holders) then 1 else 0 end)
      + max(case when m.is_member and not m.is_admin and m.user_id <> all (g.holders) then 1 else 0 end)
      + g.grants - count(*) filter (where m.is_owner and m.user_id = any (g.holders)))::integer
  from (
    select count(*) as grants, coalesce(array_agg(grants.user_id) filter (where grants.user_id is not null), '{}') as holders
    from grants where grants.resource_id = r.id
  ) g
  join organization_members m on m.organization_id = r.organization_id
  group by g.grants), 0) as collaborators
from resources r;
