select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce('"' || cast("c1" as varchar) || '"', 'null'), cast(? as varchar), coalesce('"' || cast("c2" as varchar) || '"', 'null'), '}') as "line"
from (
  select "id" as "c0", "dec" as "c1", "running0" as "c2"
  from (
    select *
    from (
      select *, cast(sum("dec") over (order by "at" desc nulls last, "uploaded_at" asc nulls last, "id" asc nulls last rows between unbounded preceding and current row) as decimal(38, 3)) as "running0"
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "dec" as "dec", "at" as "at"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
        where "experiment_id" = cast(? as varchar)
      )
    )
    order by "at" desc nulls last, "uploaded_at" asc nulls last, "id" asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: ,"dec":
-- STRING: ,"dec_cumsum":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"dec":{"name":"dec","type":"decimal(12, 3)","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 6
