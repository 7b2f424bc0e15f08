-- grain: one value of one stored record, and what it is: class is one bit of TEXT_CLASSES in src/ingest/types.ts, as text_class and token_class in functions.sql say
-- key: source, fieldlake_row, name
-- from: bronze_upload_records, silver_uploaded_files
with cells as (
  select f.source, r.fieldlake_row, name, left(token, 1) as form, substr(token, 2) as v
  from (select distinct file_id, fieldlake_row, cells from bronze_upload_records) r
    join silver_uploaded_files f on f.file_id = r.file_id and f.brings
    lateral view explode(from_json(r.cells, 'map<string, string>')) as name, token
  where token is not null
),
looked as (
  select *, v rlike r'\A-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?\z' as is_number,
    v rlike r'\A-?(0|[1-9][0-9]*)([.][0-9]+)?\z' as is_plain, try_cast(v as double) as as_double,
    v rlike r'\A[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?(Z|[-+][0-9]{2}(:?[0-9]{2})?)?)?\z' as is_time,
    regexp_extract(v, r'[T ][0-9:.]+(Z|[-+][0-9:]+)\z', 1) as zone
  from cells
),
read as (
  select *, case when is_time then try_cast(left(v, length(v) - length(zone)) as timestamp_ntz) end as local_time,
    -- sign, significant digits and exponent of the text and of what the double prints, with two digits at least: two spellings of one value have one key
    case when is_number then transform(
      transform(array(v, replace(replace(cast(as_double as string), '4.9E-324', '5E-324'), '9.9E-324', '1E-323')), x -> struct(x, trim(leading '0' from replace(regexp_extract(x, '^-?([0-9.]+)', 1), '.', '')) as digits)),
      y -> case when trim(trailing '0' from y.digits) = '' then '0' else concat(case when startswith(y.x, '-') then '-' else '' end, trim(trailing '0' from y.digits), 'e',
        case when contains(lower(y.x), 'e') then try_cast(regexp_extract(y.x, '[eE][+]?(-?[0-9]+)$', 1) as bigint) else 0 end
          - length(regexp_extract(y.x, '[.]([0-9]+)', 1)) + length(y.digits) - length(trim(trailing '0' from y.digits))) end) end as spellings
  from looked
),
known as (
  select *, is_number and (
      length(v) <= 16 and not contains(lower(v), 'e')
      -- 15 significant digits always survive a DOUBLE
      or abs(as_double) between 1e-300 and 1e300 and length(split_part(ltrim('-', spellings[0]), 'e', 1)) <= 15
      or abs(as_double) < double('infinity') and spellings[0] = spellings[1]) as survives_double
  from read
)
select source, fieldlake_row, name, form, v, is_plain,
  case when form = 'b' then 1024 when form = 'j' then 2048 when v = '' then 512
    when form <> 's' and cast(try_cast(v as bigint) as string) = v then
      case when try_cast(v as int) is not null then 1 when try_cast(v as bigint) between -9007199254740992 and 9007199254740992 then 2 else 4 end
    when form <> 's' and is_number then case when survives_double then 8 when is_plain and length(v) <= 40 then 16 else 256 end
    when length(v) = 10 and cast(try_cast(v as date) as string) = v and not startswith(v, '0000') then 32
    when local_time is null then 256
    when zone <> '' then 64
    else 128 end as class,
  case when is_plain then length(ltrim('-', split_part(v, '.', 1))) when is_number then 99 else 0 end as whole_digits,
  case when is_plain then length(trim(trailing '0' from split_part(v, '.', 2))) else 0 end as part_digits,
  case when zone = '' then null else timestamp_micros(timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', local_time)
    - case when zone = 'Z' then 0 else case when startswith(zone, '-') then -60000000 else 60000000 end
      * (try_cast(substr(zone, 2, 2) as bigint) * 60 + coalesce(try_cast(right(replace(substr(zone, 4), ':', ''), 2) as bigint), 0)) end) end as instant,
  local_time
from known
