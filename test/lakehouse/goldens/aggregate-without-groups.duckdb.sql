select concat(cast(? as varchar), coalesce(case when isfinite("c0") then cast("c0" as varchar) end, 'null'), '}') as "line"
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
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"upload_id":{"name":"upload_id","type":"varchar","default_value":null},"contributor_id":{"name":"contributor_id","type":"varchar","default_value":null},"bool":{"name":"bool","type":"boolean","default_value":null},"int":{"name":"int","type":"integer","default_value":null},"big":{"name":"big","type":"bigint","default_value":null},"dec":{"name":"dec","type":"decimal(12, 3)","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null},"day":{"name":"day","type":"date","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null},"clock":{"name":"clock","type":"timestamp","default_value":null},"json":{"name":"json","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
