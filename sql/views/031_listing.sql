-- What a caller's list of protocols, macros or workbooks holds, curated first and then by name, no further than `most`. Every arm stops by
-- itself, so that a page costs the same whatever the table holds. `related_only` leaves out what is readable only because it is public.
create or replace function library_ids(caller uuid, asked_type text, related_only boolean, asked_language text, most integer)
returns table (id uuid, "position" bigint) language sql stable parallel safe
as $$
  with found as (
    select r.id, r.sort_order, lower(r.name) as name
    from organization_members m
    cross join lateral (
      select r.* from resources r
      where r.organization_id = m.organization_id and r.type = asked_type
        and (asked_language is null or exists (select from macros where macros.id = r.id and macros.language = asked_language))
      order by r.sort_order, lower(r.name), r.id limit most) r
    where m.user_id = caller and m.is_member
    union
    select r.id, r.sort_order, lower(r.name)
    from resources r
    where (r.id in (select a.resource_id from effective_access a where a.user_id = caller and a.resource_type = asked_type and a.rank between 2 and 4 and a.can_read)
        or (r.created_by = caller and r.visibility = 'public'))
      and r.type = asked_type
      and (asked_language is null or exists (select from macros where macros.id = r.id and macros.language = asked_language))
    union
    (select r.id, r.sort_order, lower(r.name)
     from resources r
     where not related_only and r.visibility = 'public' and r.type = asked_type
       and (asked_language is null or exists (select from macros where macros.id = r.id and macros.language = asked_language))
     order by r.sort_order, lower(r.name), r.id limit most)
  )
  select found.id, row_number() over (order by found.sort_order, found.name, found.id) from found order by 2 limit most
$$;

-- What a search finds among what the caller may read, best first. Words by prefix or stem, any part of a name, and with few finds also
-- misspelt names; workbooks also by what they use and by who uses them, where the caller may read that too. Archived experiments only when asked.
create or replace function search_ids(caller uuid, asked_types text[], related_only boolean, term text, asked_status text, asked_language text, most integer)
returns table (id uuid, "position" bigint) language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan
set pg_trgm.word_similarity_threshold = 0.45
as $$
declare
  asked tsquery := search_query(term);
  folded text := lower(term);
  part text := '%' || replace(replace(replace(term, '\', '\\'), '%', '\%'), '_', '\_') || '%';
  beginning text := replace(replace(replace(lower(term), '\', '\\'), '%', '\%'), '_', '\_') || '%';
  inside boolean := length(term) >= 3;
  -- as many as are ranked at most in each arm: the newest
  arm integer := greatest(most, 300);
  hits uuid[];
  few constant integer := 32;
  -- longest first: the index looks it up, the rest are compared
  words text[] := array(select w from regexp_split_to_table(lower(term), '[^[:alnum:]]+') w where length(w) >= 3 order by length(w) desc, w limit 8);
begin
  select array(
    (select r.id from readable_resources(caller, asked_types, related_only) r where lower(r.name) like beginning order by lower(r.name), r.id limit arm)
    union
    (select r.id from readable_resources(caller, asked_types, related_only) r where r.search @@ asked order by r.updated_at desc, r.id desc limit arm)
    union
    (select r.id from readable_resources(caller, asked_types, related_only) r where inside and r.name ilike part order by r.updated_at desc, r.id desc limit arm)
  ) into hits;
  if cardinality(hits) < few and cardinality(words) > 0 then
    hits := hits || array(
      select r.id from readable_resources(caller, asked_types, related_only) r
      where words[1] <% r.name and r.id <> all (hits) and (select bool_and(w <% r.name) from unnest(words) w)
      order by word_similarity(term, r.name) desc, r.id limit few);
  end if;
  if 'workbook' = any (asked_types) then
    hits := hits || array(
      select r.id
      from readable_resources(caller, array['workbook'], related_only) r
      where r.id in (
        select u.workbook_id from workbook_uses u
        where u.resource_id in (
          select used.id from readable_resources(caller, array['protocol', 'macro'], false) used
          where used.search @@ asked order by used.updated_at desc, used.id desc limit 300)
        union
        select e.workbook_id from experiments e
        where e.status <> 'archived' and e.workbook_id is not null and e.id in (
          select user_of.id from readable_resources(caller, array['experiment'], false) user_of
          where user_of.search @@ asked order by user_of.updated_at desc, user_of.id desc limit 300))
        and r.id <> all (hits)
      order by r.updated_at desc, r.id desc limit arm);
  end if;
  return query
    select r.id, row_number() over (order by
      case when lower(r.name) = folded then 4 when lower(r.name) like beginning then 2 else 0 end
        + coalesce(ts_rank('{0.1, 0.2, 0.4, 1.0}', r.search, asked), 0) + 0.3 * word_similarity(term, r.name) desc,
      lower(r.name), r.id)
    from resources r
    left join experiments e on e.id = r.id
    left join macros m on m.id = r.id
    where r.id = any (hits)
      and (e.id is null or case when asked_status is null then e.status <> 'archived' else e.status = asked_status end)
      and (asked_language is null or m.language = asked_language)
    order by 2
    limit most;
end
$$;

-- The one list of protocols, macros or workbooks: by name, or by a search.
create or replace function listed_ids(caller uuid, asked_type text, related_only boolean, term text, asked_language text, most integer)
returns table (id uuid, "position" bigint) language plpgsql stable parallel safe
as $$
begin
  if term is null then
    return query select * from library_ids(caller, asked_type, related_only, asked_language, most);
  else
    return query select * from search_ids(caller, array[asked_type], related_only, term, null, asked_language, most);
  end if;
end
$$;
