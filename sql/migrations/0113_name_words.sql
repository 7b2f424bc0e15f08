-- Up Migration
-- The words of the names that a search finds, once each: what a misspelt word may have been meant as. A common word is looked up here instead of in
-- every name that holds it.
create table name_words (word text primary key);
create index name_words_trigram on name_words using gin (word gin_trgm_ops);

create function words_of_name(name text) returns setof text language sql immutable parallel safe
as $$
  select lexeme from unnest(to_tsvector('words', coalesce(name, ''))) where lexeme ~ '^[[:alpha:]]{3,40}$' order by lexeme
$$;

-- Runs as its transaction ends: a word that is new is waited for by whoever brings it too, and nobody shall wait longer than for that.
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
create constraint trigger resources_words_insert after insert on resources deferrable initially deferred for each row
  when (new.type in ('experiment', 'protocol', 'macro', 'workbook')) execute function name_words_follow();
create constraint trigger resources_words_update after update of name on resources deferrable initially deferred for each row
  when (new.type in ('experiment', 'protocol', 'macro', 'workbook') and old.name is distinct from new.name) execute function name_words_follow();
create constraint trigger resources_words_delete after delete on resources deferrable initially deferred for each row
  when (old.type in ('experiment', 'protocol', 'macro', 'workbook')) execute function name_words_follow();

insert into name_words
select distinct word from resources r, words_of_name(r.name) word where r.type in ('experiment', 'protocol', 'macro', 'workbook');
