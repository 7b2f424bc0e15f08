-- grain: one column of an upload table beside those that every such table has, as it is now
-- key: table_id, name
-- from: silver_uploaded_columns, silver_uploaded_values
with uploaded as (
  select c.*, row_number() over (partition by table_id, lower(name) order by uploaded_at, ordinal, source) as nth,
    row_number() over (partition by table_id, lower(name) order by uploaded_at desc, ordinal desc, source desc) as nth_last
  from silver_uploaded_columns c
),
odd as (
  select c.*, row_number() over (partition by table_id, lower(c.name) order by uploaded_at, ordinal, c.source) as nth
  from silver_uploaded_columns c join (select distinct source, name from silver_uploaded_values where odd is not null) o on o.source = c.source and o.name = c.name
),
named as (
  select l.experiment_id, l.table_id, l.name, case when f.key <> l.name then f.key end as original_key, l.type, l.has_values, l.exact_double,
    f.uploaded_at as first_seen_at, f.ordinal, false as is_odd, f.position, l.uploaded_at as last_seen_at
  from uploaded l join uploaded f on f.table_id = l.table_id and lower(f.name) = lower(l.name) and f.nth = 1 where l.nth_last = 1
  union all
  select experiment_id, table_id, concat(substr(name, 1, 249), '__text'), null, 'STRING', true, true, uploaded_at, ordinal, true, position, uploaded_at from odd where nth = 1
)
select experiment_id, table_id, name, original_key, type, 'uploaded' as origin, has_values, exact_double,
  row_number() over (partition by table_id order by first_seen_at, ordinal, is_odd, position) as position, first_seen_at, last_seen_at
from named
