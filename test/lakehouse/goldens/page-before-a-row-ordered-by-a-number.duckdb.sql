select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), '}') as "line", concat('[', coalesce(cast(to_json(cast("k0" as varchar)) as varchar), 'null'), ',', coalesce(cast(to_json(case when epoch_us("k1") % 1000 = 0 then strftime(make_timestamp(epoch_us("k1")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("k1")), '%Y-%m-%dT%H:%M:%S.%fZ') end) as varchar), 'null'), ',', coalesce(cast(to_json("k2") as varchar), 'null'), ']') as "key"
from (
  select "id" as "c0", "dbl" as "k0", "uploaded_at" as "k1", "id" as "k2"
  from (
    select *
    from (
      select *
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "dbl" as "dbl", "txt" as "txt"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
        where "experiment_id" = cast(? as varchar)
      )
      where ("txt" = cast(? as varchar)) and (("dbl" >= cast(? as double)) and (("dbl" > cast(? as double)) or (("dbl" between cast(? as double) and cast(? as double)) and ("uploaded_at" < cast(? as timestamptz))) or (("dbl" between cast(? as double) and cast(? as double)) and ("uploaded_at" = cast(? as timestamptz)) and ("id" < cast(? as varchar)))))
    )
    order by "dbl" asc nulls first, "uploaded_at" desc nulls first, "id" desc nulls first
    limit ?
  )
)

-- STRING: {"id":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: a
-- DOUBLE: NaN
-- DOUBLE: NaN
-- DOUBLE: NaN
-- DOUBLE: NaN
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- DOUBLE: NaN
-- DOUBLE: NaN
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- STRING: r1
-- BIGINT: 101
