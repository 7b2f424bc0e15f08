select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce(cast(to_json("c1") as varchar), 'null'), '}') as "line", concat('[', coalesce(cast(to_json(case when epoch_us("k0") % 1000 = 0 then strftime(make_timestamp(epoch_us("k0")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("k0")), '%Y-%m-%dT%H:%M:%S.%fZ') end) as varchar), 'null'), ',', coalesce(cast(to_json("k1") as varchar), 'null'), ']') as "key"
from (
  select "id" as "c0", "txt" as "c1", "uploaded_at" as "k0", "id" as "k1"
  from (
    select *
    from (
      select *
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "txt" as "txt"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
        where "experiment_id" = cast(? as varchar)
      )
      where (("uploaded_at" >= cast(? as timestamptz)) or ("uploaded_at" is null)) and ((("uploaded_at" > cast(? as timestamptz)) or ("uploaded_at" is null)) or (("uploaded_at" = cast(? as timestamptz)) and (("id" > cast(? as varchar)) or ("id" is null))))
    )
    order by "uploaded_at" asc nulls last, "id" asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: ,"txt":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- STRING: r1
-- BIGINT: 101
