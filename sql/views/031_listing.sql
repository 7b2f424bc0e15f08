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

-- Up to `arm` of what the caller may read that a query finds, in the order of the table, so that a word that everything holds costs no more than a
-- rare one: the first pages are read as they lie, and only when they do not hold enough the index is asked. The planner, left to choose, reads the
-- whole table for words that are common each and rare together.
drop function if exists first_found(uuid, uuid[], uuid[], text[], boolean, tsquery, integer);
create or replace function first_found(caller uuid, homes uuid[], granted uuid[], asked_types text[], related_only boolean, asked tsquery, arm integer,
  asked_visibility text, maker uuid)
returns uuid[] language plpgsql stable
set plan_cache_mode = force_custom_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $$
declare
  sample constant integer := 400;
  found uuid[];
begin
  found := array(
    select r.id from readable_among(caller, homes, granted, asked_types, related_only, sample, asked_visibility, maker) r
    where r.search @@ asked limit arm);
  -- where the rest of them is likely to be found in the next pages
  if cardinality(found) between arm / 16 and arm - 1 then
    found := array(
      select r.id from readable_among(caller, homes, granted, asked_types, related_only, sample * arm * 3 / (2 * cardinality(found)), asked_visibility, maker) r
      where r.search @@ asked limit arm);
  end if;
  if cardinality(found) < arm then
    found := array(
      select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where r.search @@ asked limit arm);
  end if;
  return found;
end
$$;

-- What a search finds among what the caller may read, best first. Words by prefix or stem; with few finds also any part of a name, and then
-- misspelt names; workbooks also by what they use and by who uses them, where the caller may read that too. Archived experiments only when asked.
-- `asked_visibility` and `maker` narrow what is looked through, so that no bound is spent on what they leave out. Each arm stops at `arm` rows.
drop function if exists search_ids(uuid, text[], boolean, text, text, text, integer);
-- loads pg_trgm: before, only a superuser may write a function that sets a parameter of it
select similarity('', '');
create or replace function search_ids(caller uuid, asked_types text[], related_only boolean, term text, asked_status text, asked_language text, most integer,
  asked_visibility text default null, maker uuid default null)
returns table (id uuid, "position" bigint) language plpgsql stable
set plan_cache_mode = force_custom_plan
set pg_trgm.word_similarity_threshold = 0.45
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $$
declare
  homes constant uuid[] := homes_of(caller);
  granted constant uuid[] := granted_to(caller);
  asked tsquery := search_query(term);
  folded text := lower(term);
  part text := replace(replace(replace(lower(term), '\', '\\'), '%', '\%'), '_', '\_') || '%';
  arm integer := greatest(most, 200);
  few constant integer := 32;
  sample constant integer := 400;
  worded uuid[];
  searched constant text[] := array['experiment', 'protocol', 'macro', 'workbook'];
  -- words that nothing holds that the caller may read, longest first: these may be misspelt, the others must be met. What others hold decides nothing, or
  -- its words could be told by what is found. With `offset 0` each word is asked for by itself: joined with all words, it took three times as long.
  strange text[];
  known tsquery;
  meant tsquery;
  near uuid[];
  hits uuid[];
  via uuid[];
begin
  worded := first_found(caller, homes, granted, asked_types, related_only, asked, arm, asked_visibility, maker);
  select array(
    (select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where lower(r.name) = folded order by r.id limit arm)
    union
    (select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where lower(r.name) like part limit arm)
    union
    select unnest(worded)
  ) into hits;
  if cardinality(hits) < few and length(term) >= 3 then
    hits := hits || array(
      select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where r.name ilike '%' || part and r.id <> all (hits) limit arm);
  end if;
  if cardinality(hits) < few then
    select array_agg(w order by length(w) desc, w) filter (where not is_known and length(w) >= 3),
      search_query(string_agg(w, ' ') filter (where is_known or length(w) < 3))
    into strange, known
    from (
      select w, exists (select from readable_among(caller, homes, granted, searched, false, sample) r where r.search @@ one.query offset 0)
        or exists (select from readable_among(caller, homes, granted, searched, false) r where r.search @@ one.query offset 0) as is_known
      from (
        -- once a word, and not once a row
        select w, search_query(w) as query from regexp_split_to_table(lower(term), '[^[:alnum:]]+') w where w <> '' limit 8 offset 0) one
      offset 0) word;
  end if;
  if cardinality(strange) > 0 then
    -- each as one of the words of names that are most like it; null where a word is like none
    select case when bool_and(alike.query is not null) then string_agg('(' || alike.query || ')', '&')::tsquery && coalesce(known, ''::tsquery) end
    into meant
    from unnest(strange) typed
    cross join lateral (
      select string_agg(quote_literal(word) || ':A', '|') as query
      from (
        select word
        from (select word from name_words where unaccent(typed) <% word order by word_similarity(unaccent(typed), word) desc, word limit 64) likeliest
        where exists (select from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
          where r.search @@ (quote_literal(word) || ':A')::tsquery offset 0)
        limit 8) w) alike;
    near := first_found(caller, homes, granted, asked_types, related_only, meant, arm, asked_visibility, maker);
    hits := hits || array(
      select r.id from resources r where r.id = any (near) and r.id <> all (hits) order by word_similarity(folded, r.name) desc, r.id limit few);
  end if;
  if 'workbook' = any (asked_types) then
    via := case when not related_only and asked_visibility is null and maker is null and asked_types @> array['protocol', 'macro', 'experiment'] then worded else array(
      select r.id from readable_among(caller, homes, granted, array['protocol', 'macro', 'experiment'], false) r where r.search @@ asked limit 200) end;
    hits := hits || array(
      select r.id
      from readable_among(caller, homes, granted, array['workbook'], related_only, null, asked_visibility, maker) r
      where r.id = any (array(
          select u.workbook_id from workbook_uses u where u.resource_id = any (via)
          union
          select e.workbook_id from experiments e where e.id = any (via) and e.status <> 'archived' and e.workbook_id is not null))
        and r.id <> all (hits)
      limit arm);
  end if;
  return query
    select r.id, row_number() over (order by
      case when lower(r.name) = folded then 4 when lower(r.name) like part then 2 else 0 end
        + coalesce(ts_rank('{0.1, 0.2, 0.4, 1.0}', r.search, asked), 0) + 0.3 * word_similarity(folded, r.name) desc,
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
returns table (id uuid, "position" bigint) language plpgsql stable
as $$
begin
  if term is null then
    return query select * from library_ids(caller, asked_type, related_only, asked_language, most);
  else
    return query select * from search_ids(caller, array[asked_type], related_only, term, null, asked_language, most);
  end if;
end
$$;

-- A page of that list. A search ranks what it finds, so it must see more than the page.
create or replace function listed_page(caller uuid, asked_type text, related_only boolean, term text, asked_language text, page_size bigint, page_start bigint)
returns table (id uuid, "position" bigint) language sql stable
as $$
  select id, "position"
  from listed_ids(caller, asked_type, related_only, term, asked_language,
    case when term is null then least(page_size + page_start, 2147483647)::integer else 10001 end)
  order by "position" limit page_size offset page_start
$$;

-- What protocols, macros and workbooks have in common, with the names of who made them and of their organization; a personal workspace has none.
create or replace view library_resources as
select r.id, r.name, r.description, r.sort_order, r.created_by, p.first_name || ' ' || p.last_name as created_by_name, r.created_at, r.updated_at,
  r.organization_id, case when o.personal_user_id is null then o.name end as organization_name, r.visibility, r.version
from resources r
join organizations o on o.id = r.organization_id
join people p on p.user_id = r.created_by;
