-- grain: one column of one stored file, with the type that its table has for it from this file on: what src/ingest/types.ts decides, file after file
-- key: source, name
-- from: silver_uploaded_files, silver_uploaded_cells
with told as (
  select f.source, f.experiment_id, f.table_id, f.uploaded_at, f.ordinal, c.position, c.key, c.name as given, c.form
  from silver_uploaded_files f
    lateral view explode(from_json(f.columns, 'array<struct<position: int, key: string, name: string, form: string>>')) as c
  where f.brings
),
seen as (
  select source, name, count(*) as value_count, bit_or(case when form = 'd' then 256 else class end) as classes, bit_or(class) as text_classes,
    count_if(form = 's') as s, count_if(form = 'n') as n, count_if(form = 'b') as b, count_if(form = 'j') as j,
    max(whole_digits) as whole, max(part_digits) as part
  from silver_uploaded_cells group by source, name
),
-- a JSON key whose values are of several kinds takes the kind of most of them; a tie is text
own as (
  select t.*, coalesce(value_count, 0) as value_count,
    case when form in ('text', 'token') then null else form end as declared,
    coalesce(classes, 0) | case when form = 'BIGINT' then coalesce(text_classes, 0) & 4 else 0 end as classes,
    case when form <> 'token' then coalesce(classes, 0) when s is null then 0 else classes & case greatest(s, n, b, j) when s then 992 when n then 31 when b then 1024 else 2048 end end as own,
    whole + part as digits, part
  from told t left join seen on seen.source = t.source and seen.name = t.given
),
-- the type of the numbers among them, and of them alone
alone as (
  select *,
    case when classes & 31 = 0 then null
      when classes & 16 <> 0 or classes & 4 <> 0 and classes & 8 <> 0 then case when digits <= 38 then concat('DECIMAL(38,', part, ')') end
      when classes & 8 <> 0 then 'DOUBLE' when classes & 6 = 0 then 'INT' else 'BIGINT' end as number_type,
    case when own & ~512 = 1024 then 'BOOLEAN' when own & ~512 = 2048 then 'VARIANT' when own = 0 then null when own = 512 then 'STRING'
      when own & ~543 = 0 then coalesce(
        case when own & 16 <> 0 or own & 4 <> 0 and own & 8 <> 0 then case when digits <= 38 then concat('DECIMAL(38,', part, ')') end
          when own & 8 <> 0 then 'DOUBLE' when own & 6 = 0 then 'INT' else 'BIGINT' end, 'STRING')
      when own & ~512 = 32 then 'DATE' when own & ~512 = 64 then 'TIMESTAMP' when own & ~512 = 128 then 'TIMESTAMP_NTZ'
      else 'STRING' end as alone
  from own
),
so_far as (
  select *, collect_list(struct(classes, own, declared, number_type, alone, digits, part)) over files as files, first_value(given) over files as name
  from alone
  window files as (partition by table_id, lower(given) order by uploaded_at, ordinal, source)
),
-- the first file chooses a type; later ones widen it where nothing is lost
decided as (
  select *, aggregate(files, named_struct('type', cast(null as string), 'has_values', false, 'exact_double', true), (was, x) -> named_struct(
    'type', case
      when was.type is null then coalesce(x.declared, x.alone, 'STRING')
      when x.classes = 0 then was.type
      when x.declared is not null then case
        when not was.has_values then x.declared
        when was.type = 'INT' and x.declared in ('BIGINT', 'DOUBLE') then x.declared
        when was.type = 'BIGINT' and x.declared = 'DOUBLE' and was.exact_double then x.declared
        when was.type in ('INT', 'BIGINT') and startswith(x.declared, 'DECIMAL')
          and try_cast(regexp_extract(x.declared, '([0-9]+),', 1) as int) - try_cast(regexp_extract(x.declared, ',([0-9]+)', 1) as int) >= 19
          then concat('DECIMAL(38,', regexp_extract(x.declared, ',([0-9]+)', 1), ')')
        when was.type = 'DATE' and x.declared = 'TIMESTAMP_NTZ' then x.declared
        else was.type end
      when not was.has_values then coalesce(x.alone, was.type)
      when was.type in ('INT', 'BIGINT') then case
        when x.number_type = 'BIGINT' then 'BIGINT'
        when x.number_type = 'DOUBLE' and (was.type = 'INT' or was.exact_double) then 'DOUBLE'
        when x.number_type = 'DOUBLE' and x.digits <= 38 and x.part <= 19 then concat('DECIMAL(38,', x.part, ')')
        when startswith(x.number_type, 'DECIMAL') and x.part <= 19 then x.number_type
        else was.type end
      when was.type = 'DATE' and x.own & 128 <> 0 then 'TIMESTAMP_NTZ'
      else was.type end,
    'has_values', was.has_values or x.classes <> 0,
    'exact_double', was.exact_double and x.classes & 4 = 0)) as state
  from so_far
)
select source, experiment_id, table_id, uploaded_at, ordinal, position, key, given, name, form, value_count > 0 as is_present,
  state.type as type, state.has_values as has_values, state.exact_double as exact_double,
  case when value_count > 0 and lag(state.has_values) over files and lag(state.type) over files <> state.type then lag(state.type) over files end as widened_from
from decided
window files as (partition by table_id, lower(given) order by uploaded_at, ordinal, source)
