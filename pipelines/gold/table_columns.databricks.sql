-- grain: one column of a table beside those that every table of its kind has, as it is now; table_id is the table's identifier
-- key: experiment_id, table_id, name
-- from: silver_uploaded_columns, silver_uploaded_values, raw_data, macro
with uploaded as (
  select c.*, row_number() over (partition by table_id, lower(name) order by uploaded_at, ordinal, source) as nth,
    row_number() over (partition by table_id, lower(name) order by uploaded_at desc, ordinal desc, source desc) as nth_last
  from silver_uploaded_columns c
),
odd as (
  select c.*, row_number() over (partition by table_id, lower(c.name) order by uploaded_at, ordinal, c.source) as nth
  from silver_uploaded_columns c join (select distinct source, name from silver_uploaded_values where odd is not null) o on o.source = c.source and o.name = c.name
),
-- what messages brought along: the members of two VARIANTs
brought as (
  select experiment_id, 'raw_data' as table_id, 'question' as origin, processed_timestamp as seen_at, member.key as held, member.value
  from raw_data, lateral variant_explode(questions_data) as member
  union all
  select experiment_id, macro_id, 'output', processed_timestamp, member.key, member.value from macro, lateral variant_explode(macro_output) as member
),
looked as (
  select experiment_id, table_id, origin, case when startswith(held, '~') then decode(unhex(substr(held, 2)), 'UTF-8') else held end as name,
    min(seen_at) as first_seen_at, max(seen_at) as last_seen_at,
    collect_set(case when not is_variant_null(value) then regexp_extract(schema_of_variant(value), '^[A-Z]+', 0) end) as kinds,
    min(try_variant_get(value, '$', 'bigint')) as least, max(try_variant_get(value, '$', 'bigint')) as most
  from brought group by experiment_id, table_id, origin, 4
),
named as (
  select l.experiment_id, l.table_id, l.name, case when f.key <> l.name then f.key end as original_key, l.type, 'uploaded' as origin, l.has_values, l.exact_double,
    f.uploaded_at as first_seen_at, f.ordinal, false as is_odd, f.position, l.uploaded_at as last_seen_at
  from uploaded l join uploaded f on f.table_id = l.table_id and lower(f.name) = lower(l.name) and f.nth = 1 where l.nth_last = 1
  union all
  select experiment_id, table_id, concat(substr(name, 1, 249), '__text'), null, 'STRING', 'uploaded', true, true, uploaded_at, ordinal, true, position, uploaded_at
  from odd where nth = 1
  union all
  -- answers are text; of outputs of several kinds each can be read as text
  select experiment_id, table_id, name, null, case
      when origin = 'question' or size(kinds) = 0 then 'STRING'
      when size(array_except(kinds, array('BOOLEAN'))) = 0 then 'BOOLEAN'
      when size(array_except(kinds, array('BIGINT'))) = 0 then case when least >= -2147483648 and most <= 2147483647 then 'INT' else 'BIGINT' end
      when size(array_except(kinds, array('BIGINT', 'DECIMAL', 'DOUBLE'))) = 0 then 'DOUBLE'
      when size(array_except(kinds, array('OBJECT', 'ARRAY'))) = 0 then 'VARIANT'
      else 'STRING' end,
    origin, origin = 'question' or size(kinds) > 0, coalesce(least >= -9007199254740992 and most <= 9007199254740992, true), first_seen_at, 0, false, 0, last_seen_at
  from looked
)
select experiment_id, table_id, name, original_key, type, origin, has_values, exact_double,
  row_number() over (partition by experiment_id, table_id order by first_seen_at, ordinal, is_odd, position, name) as position, first_seen_at, last_seen_at
from named
