-- What a resource is found by: its own words, the people it belongs to, its places, its language or family.

create text search configuration words (copy = simple);
alter text search configuration words alter mapping for hword, hword_part, word, asciiword, asciihword, hword_asciipart with unaccent, simple;
create text search configuration stems (copy = english);
alter text search configuration stems alter mapping for hword, hword_part, word, asciiword, asciihword, hword_asciipart with unaccent, english_stem;

-- Plain words for prefixes ('experime' finds 'experiment', whose stem is shorter), stems for inflections.
create function searchable(content text) returns tsvector language sql immutable parallel safe
  return to_tsvector('words', coalesce(content, '')) || to_tsvector('stems', coalesce(content, ''));

-- Every word of a search as a prefix or by its stem; null when it holds none.
create function search_query(term text) returns tsquery language sql immutable parallel safe
as $$
  select nullif(string_agg('(' || part.query || ')', '&')::tsquery, ''::tsquery)
  from (
    select (to_tsquery('words', quote_literal(word) || ':*') || plainto_tsquery('stems', word))::text as query
    from regexp_split_to_table(lower(left(term, 200)), '[^[:alnum:]]+') as word
    where word <> ''
    limit 16
  ) part
  where part.query <> ''
$$;

-- The search document of one resource. People come in a set order, so that the same rows make the same document; they are read by their key,
-- because a condition with "or" would read every profile there is.
create function resource_search(asked uuid) returns tsvector language sql stable parallel safe
as $$
  select setweight(searchable(r.name), 'A') || setweight(searchable(left(r.description, 20000)), 'B')
    || setweight(to_tsvector('words', concat_ws(' ', m.language, p.family,
         (select string_agg(concat_ws(' ', l.name, l.country, l.region, l.municipality, l.address_label), ' ' order by l.ordinal)
          from locations l where l.experiment_id = r.id))), 'C')
    || setweight(to_tsvector('words', coalesce((
         select string_agg(concat_ws(' ', person.first_name, person.last_name), ' ' order by person.user_id)
         from (
           select r.created_by as user_id
           union
           -- whom an anonymised experiment is shared with is not told by finding it
           select g.user_id from grants g where g.resource_id = r.id and g.user_id is not null and not e.anonymize_contributors) named
         join profiles person on person.user_id = named.user_id and person.activated
         join users u on u.id = named.user_id and u.deleted_at is null), '')), 'D')
  from resources r
  left join experiments e on e.id = r.id
  left join macros m on m.id = r.id
  left join protocols p on p.id = r.id
  where r.id = asked
$$;

-- Triggers write the document, so that no statement can forget it.
create function refresh_search(asked uuid[]) returns void language sql volatile
as $$
  update resources set search = resource_search(id) where id in (select id from resources where id = any (asked) order by id for no key update)
$$;

create function search_of_resource() returns trigger language plpgsql as $$
begin
  perform refresh_search(array[new.id]);
  return null;
end $$;
create trigger resources_search after insert or update of name, description, created_by on resources for each row execute function search_of_resource();
create trigger macros_search after insert or update of language on macros for each row execute function search_of_resource();
create trigger experiments_search after insert or update of anonymize_contributors on experiments for each row execute function search_of_resource();
create trigger protocols_search after insert or update of family on protocols for each row execute function search_of_resource();

create function search_of_locations() returns trigger language plpgsql as $$
begin
  perform refresh_search(array(select distinct experiment_id from changed));
  return null;
end $$;
create trigger locations_search_insert after insert on locations referencing new table as changed for each statement execute function search_of_locations();
create trigger locations_search_update after update on locations referencing new table as changed for each statement execute function search_of_locations();
create trigger locations_search_delete after delete on locations referencing old table as changed for each statement execute function search_of_locations();

create function search_of_grants() returns trigger language plpgsql as $$
begin
  perform refresh_search(array(select distinct resource_id from changed where resource_type = 'experiment' and user_id is not null));
  return null;
end $$;
create trigger grants_search_insert after insert on grants referencing new table as changed for each statement execute function search_of_grants();
create trigger grants_search_delete after delete on grants referencing old table as changed for each statement execute function search_of_grants();

create function search_of_person() returns trigger language plpgsql as $$
begin
  perform refresh_search(array(
    select id from resources where created_by = new.user_id
    union select resource_id from grants where user_id = new.user_id and resource_type = 'experiment'));
  return null;
end $$;
create trigger profiles_search after insert or update of first_name, last_name, activated on profiles for each row execute function search_of_person();

create function search_of_account() returns trigger language plpgsql as $$
begin
  perform refresh_search(array(
    select id from resources where created_by = new.id
    union select resource_id from grants where user_id = new.id and resource_type = 'experiment'));
  return null;
end $$;
create trigger users_search after update of deleted_at on users for each row when (old.deleted_at is distinct from new.deleted_at) execute function search_of_account();

-- Each word of the names that a search finds, once: what a misspelt word may have been meant as.
create table name_words (word text primary key);
create index name_words_trigram on name_words using gin (word gin_trgm_ops);

create function words_of_name(name text) returns setof text language sql immutable parallel safe
as $$
  select lexeme from unnest(to_tsvector('words', coalesce(name, ''))) where lexeme ~ '^[[:alpha:]]{3,40}$' order by lexeme
$$;

create function name_words_follow() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into name_words select words_of_name(new.name) on conflict do nothing;
  end if;
  if tg_op <> 'INSERT' then
    delete from name_words w
    where w.word in (select words_of_name(old.name))
      and not exists (select from resources r where r.search @@ (quote_literal(w.word) || ':A')::tsquery and r.type in ('experiment', 'protocol', 'macro', 'workbook'));
  end if;
  return null;
end $$;
-- Deferred: a transaction with a new word makes others with the same word wait, so it writes the word at its very end.
create constraint trigger resources_words_insert after insert on resources deferrable initially deferred for each row
  when (new.type in ('experiment', 'protocol', 'macro', 'workbook')) execute function name_words_follow();
create constraint trigger resources_words_update after update of name on resources deferrable initially deferred for each row
  when (new.type in ('experiment', 'protocol', 'macro', 'workbook') and old.name is distinct from new.name) execute function name_words_follow();
create constraint trigger resources_words_delete after delete on resources deferrable initially deferred for each row
  when (old.type in ('experiment', 'protocol', 'macro', 'workbook')) execute function name_words_follow();
