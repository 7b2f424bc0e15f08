select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce(case when isfinite("c1") then cast("c1" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(cast(to_json("c2") as varchar), 'null'), '}') as "line"
from (
  select "id" as "c0", "dbl" as "c1", "txt" as "c2"
  from (
    select *
    from (
      select "id" as "id", "uploaded_at" as "uploaded_at", "dbl" as "dbl", "txt" as "txt"
      from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
      where "experiment_id" = cast(? as varchar)
    )
    order by "dbl" desc nulls last, "uploaded_at" asc nulls last, "id" asc nulls last
    limit ? offset ?
  )
)

-- STRING: {"id":
-- STRING: ,"dbl":
-- STRING: ,"txt":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 50
-- BIGINT: 100
