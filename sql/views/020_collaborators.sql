-- Rows that the collaborator list of a resource shows: its living owners, one row for all admins and one for all members that hold no grant
-- of their own, and every grant but an owner's own.
create or replace function collaborator_count(resource uuid) returns integer language sql stable parallel safe
  return (
    select (count(*) filter (where m.is_owner)
        + max(case when m.is_admin and not m.is_owner and g.id is null then 1 else 0 end)
        + max(case when m.is_member and not m.is_admin and g.id is null then 1 else 0 end)
        + (select count(*) from grants other where other.resource_id = resource
             and not exists (select from organization_members o where o.organization_id = r.organization_id and o.user_id = other.user_id and o.is_owner)))::integer
    from resources r
    join organization_members m on m.organization_id = r.organization_id
    join users u on u.id = m.user_id and u.deleted_at is null
    left join grants g on g.resource_id = r.id and g.user_id = m.user_id
    where r.id = resource
    group by r.id
  );
