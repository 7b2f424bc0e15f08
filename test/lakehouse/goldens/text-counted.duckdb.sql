select count(*) as "c0"
from (
  select *
  from (
    select "txt" as "txt"
    from (select cast(null as varchar) as "experiment_id", cast(null as varchar) as "id", cast(null as timestamptz) as "uploaded_at", cast(null as varchar) as "upload_id", cast(null as varchar) as "contributor_id", cast(null as boolean) as "bool", cast(null as integer) as "int", cast(null as bigint) as "big", cast(null as decimal(12, 3)) as "dec", cast(null as double) as "dbl", cast(null as varchar) as "txt", cast(null as date) as "day", cast(null as timestamptz) as "at", cast(null as timestamp) as "clock", cast(null as varchar) as "json" where false union all by name select * from read_parquet(?, union_by_name = true))
    where "experiment_id" = cast(? as varchar)
  )
  where (contains("txt", cast(? as varchar))) and (starts_with("txt", cast(? as varchar))) and ("txt" in (cast(? as varchar), cast(? as varchar)))
)

-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 50%_
-- STRING: a
-- STRING: a
-- STRING: b
