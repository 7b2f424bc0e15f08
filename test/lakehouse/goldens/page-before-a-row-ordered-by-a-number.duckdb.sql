select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), '}') as "line", concat('[', coalesce(cast(to_json(cast("k0" as varchar)) as varchar), 'null'), ',', coalesce(cast(to_json(case when epoch_us(make_timestamp(epoch_us("k1"))) % 1000 = 0 then strftime(make_timestamp(epoch_us("k1")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("k1")), '%Y-%m-%dT%H:%M:%S.%fZ') end) as varchar), 'null'), ',', coalesce(cast(to_json("k2") as varchar), 'null'), ']') as "key"
from (
  select "id" as "c0", "dbl" as "k0", "uploaded_at" as "k1", "id" as "k2"
  from (
    select *
    from (
      select *
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "dbl" as "dbl", "txt" as "txt"
        from (select cast(null as varchar) as "experiment_id", cast(null as varchar) as "id", cast(null as timestamptz) as "uploaded_at", cast(null as varchar) as "upload_id", cast(null as varchar) as "contributor_id", cast(null as boolean) as "bool", cast(null as integer) as "int", cast(null as bigint) as "big", cast(null as decimal(12, 3)) as "dec", cast(null as double) as "dbl", cast(null as varchar) as "txt", cast(null as date) as "day", cast(null as timestamptz) as "at", cast(null as timestamp) as "clock", cast(null as varchar) as "json" where false union all by name select * from read_parquet(?, union_by_name = true))
        where "experiment_id" = cast(? as varchar)
      )
      where ("txt" = cast(? as varchar)) and (("dbl" >= cast(? as double)) and (("dbl" > cast(? as double)) or (("dbl" = cast(? as double)) and ("uploaded_at" < cast(? as timestamptz))) or (("dbl" = cast(? as double)) and ("uploaded_at" = cast(? as timestamptz)) and ("id" < cast(? as varchar)))))
    )
    order by "dbl" asc nulls first, "uploaded_at" desc nulls first, "id" desc nulls first
    limit ?
  )
)

-- STRING: {"id":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: a
-- DOUBLE: NaN
-- DOUBLE: NaN
-- DOUBLE: NaN
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- DOUBLE: NaN
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- STRING: r1
-- BIGINT: 101
