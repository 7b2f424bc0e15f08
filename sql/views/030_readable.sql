-- can_read of effective_access, arranged for a search through many resources: the sets are read once and hashed. A property test holds the two together.

-- What a caller reads through memberships, and through grants of any kind.
create or replace function homes_of(caller uuid) returns uuid[] language sql stable parallel safe
  return array(select m.organization_id from organization_members m where m.user_id = caller and m.is_member);
create or replace function granted_to(caller uuid) returns uuid[] language sql stable parallel safe
  return array(select a.resource_id from effective_access a where a.user_id = caller and a.rank between 2 and 4 and a.can_read);

-- The one statement of the rule. The sets are given, so that a function that asks several times plans and reads them once. With `pages` only the first
-- pages of the table are read; with `asked_visibility` only what is public, or only what is not; with `maker` only what they made.
drop function if exists readable_among(uuid, uuid[], uuid[], text[], boolean, integer);
create or replace function readable_among(caller uuid, homes uuid[], granted uuid[], asked_types text[], related_only boolean, pages integer default null,
  asked_visibility text default null, maker uuid default null)
returns setof resources language sql stable parallel safe
as $$
  select r.*
  from resources r
  where r.type = any (asked_types)
    and (pages is null or r.ctid < format('(%s,0)', pages)::tid)
    and (maker is null or r.created_by = maker)
    and (asked_visibility is null or (r.visibility = 'public' or coalesce(r.public_from <= now(), false)) = (asked_visibility = 'public'))
    and (
      r.organization_id in (select unnest(homes))
      or r.id in (select unnest(granted))
      or ((r.visibility = 'public' or r.public_from <= now()) and (not related_only or r.created_by = caller)))
$$;

-- The same for a query that asks once. It is put into the query that it stands in, where both sets are read once.
create or replace function readable_resources(caller uuid, asked_types text[], related_only boolean)
returns setof resources language sql stable parallel safe
as $$
  select r.* from readable_among(caller, homes_of(caller), granted_to(caller), asked_types, related_only) r
$$;
