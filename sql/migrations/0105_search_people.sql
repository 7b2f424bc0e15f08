-- Up Migration
-- The people of a search document are looked up one by one: a condition over all profiles read every one of them for each resource that was written.

create or replace function resource_search(asked uuid) returns tsvector language sql stable parallel safe
as $$
  select setweight(searchable(r.name), 'A') || setweight(searchable(left(r.description, 20000)), 'B')
    || setweight(to_tsvector('words', concat_ws(' ', m.language, p.family,
         (select string_agg(concat_ws(' ', l.name, l.country, l.region, l.municipality, l.address_label), ' ') from locations l where l.experiment_id = r.id))), 'C')
    || setweight(to_tsvector('words', coalesce((
         select string_agg(concat_ws(' ', person.first_name, person.last_name), ' ')
         from (
           select r.created_by as user_id
           union
           -- whom an anonymised experiment is shared with is not told by finding it
           select g.user_id from grants g where g.resource_id = r.id and g.user_id is not null and e.anonymize_contributors is false
         ) known
         cross join lateral (
           select profiles.first_name, profiles.last_name from profiles join users u on u.id = profiles.user_id and u.deleted_at is null
           where profiles.user_id = known.user_id and profiles.activated
           offset 0) person), '')), 'D')
  from resources r
  left join experiments e on e.id = r.id
  left join macros m on m.id = r.id
  left join protocols p on p.id = r.id
  where r.id = asked
$$;
