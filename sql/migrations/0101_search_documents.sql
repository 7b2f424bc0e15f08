-- Up Migration
-- The search document of one resource, reading the profiles of the people it names by their key: a condition with "or" reads every profile there is,
-- for every resource, grant and place that is written. The people come in a set order, so that the same rows make the same document.
create or replace function resource_search(asked uuid) returns tsvector language sql stable parallel safe
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
