select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), '}') as "line", concat('[', coalesce(cast(to_json(cast("k0" as varchar)) as varchar), 'null'), ',', coalesce(cast(to_json(case when epoch_us(make_timestamp(epoch_us("k1"))) % 1000 = 0 then strftime(make_timestamp(epoch_us("k1")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("k1")), '%Y-%m-%dT%H:%M:%S.%fZ') end) as varchar), 'null'), ',', coalesce(cast(to_json("k2") as varchar), 'null'), ']') as "key"
from (
  select "id" as "c0", "int" as "k0", "uploaded_at" as "k1", "id" as "k2"
  from (
    select *
    from (
      select *
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "int" as "int"
        from (select cast(null as varchar) as "experiment_id", cast(null as varchar) as "id", cast(null as timestamptz) as "uploaded_at", cast(null as varchar) as "upload_id", cast(null as varchar) as "contributor_id", cast(null as boolean) as "bool", cast(null as integer) as "int", cast(null as bigint) as "big", cast(null as decimal(12, 3)) as "dec", cast(null as double) as "dbl", cast(null as varchar) as "txt", cast(null as date) as "day", cast(null as timestamptz) as "at", cast(null as timestamp) as "clock", cast(null as varchar) as "json" where false union all by name select * from read_parquet(?, union_by_name = true))
        where "experiment_id" = cast(? as varchar)
      )
      where ("int" is null) and ((("int" is null) and ("uploaded_at" is null) and (("id" > cast(? as varchar)) or ("id" is null))))
    )
    order by "int" asc nulls last, "uploaded_at" asc nulls last, "id" asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: r1
-- BIGINT: 101
