select count(*) as "c0"
from (
  select *
  from (
    select "txt" as "txt"
    from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
    where "experiment_id" = cast(? as varchar)
  )
  where (contains("txt", cast(? as varchar))) and (starts_with("txt", cast(? as varchar))) and ("txt" in (cast(? as varchar), cast(? as varchar)))
)

-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 50%_
-- STRING: a
-- STRING: a
-- STRING: b
