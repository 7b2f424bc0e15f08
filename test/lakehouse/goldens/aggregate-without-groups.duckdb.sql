select concat(cast(? as varchar), coalesce(case when isfinite("c0") then cast("c0" + 0 as varchar) end, 'null'), '}') as "line"
from (
  select *
  from (
    select avg("dbl") as "c0"
    from (
      select "dbl" as "dbl"
      from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
      where "experiment_id" = cast(? as varchar)
    )
  )
  order by "c0" asc nulls last
  limit ?
)

-- STRING: {"mean":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
