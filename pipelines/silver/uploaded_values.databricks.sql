-- grain: one value of one stored record under its column's type; one that does not fit is null there and kept as text in `odd`
-- key: source, fieldlake_row, name
-- from: silver_uploaded_cells, silver_uploaded_columns
with typed as (
  select v.*, c.name as column_name, c.type, c.form as written, regexp_extract(c.type, ',([0-9]+)', 1) as scale
  from silver_uploaded_cells v join silver_uploaded_columns c on c.source = v.source and c.given = v.name
),
tested as (
  select *, case
      when written = type or type in ('STRING', 'VARIANT') then true
      when type = 'BOOLEAN' then case when form = 'n' or form = 's' or form = 'j' then false else v in ('true', 'false') end
      when startswith(type, 'DECIMAL') then form in ('n', 't', 'd') and is_plain and whole_digits <= try_cast(regexp_extract(type, '([0-9]+),', 1) as int) - try_cast(scale as int) and part_digits <= try_cast(scale as int)
      else class & case type when 'INT' then 1 when 'BIGINT' then 7 when 'DOUBLE' then 11 when 'DATE' then 32 when 'TIMESTAMP' then 64 when 'TIMESTAMP_NTZ' then 160 else 0 end <> 0
    end as fits
  from typed
)
select source, fieldlake_row, column_name as name, type,
  case when not fits then null
    when type = 'STRING' then cast(v as variant)
    when type = 'VARIANT' then case when form in ('s', 't') then cast(v as variant) else try_parse_json(v) end
    when type = 'BOOLEAN' then cast(try_cast(v as boolean) as variant)
    when type = 'INT' then cast(try_cast(v as int) as variant)
    when type = 'BIGINT' then cast(try_cast(v as bigint) as variant)
    when type = 'DOUBLE' then cast(try_cast(v as double) as variant)
    when type = 'DATE' then cast(try_cast(v as date) as variant)
    when type = 'TIMESTAMP' then cast(coalesce(instant, try_cast(v as timestamp)) as variant)
    when type = 'TIMESTAMP_NTZ' then cast(coalesce(local_time, try_cast(v as timestamp_ntz)) as variant)
    -- a DECIMAL: in a VARIANT each number has a scale of its own
    else try_parse_json(v) end as value,
  case when v <> '' and not fits then v end as odd
from tested
