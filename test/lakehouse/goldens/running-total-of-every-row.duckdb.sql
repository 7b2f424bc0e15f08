select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce('"' || cast("c1" as varchar) || '"', 'null'), cast(? as varchar), coalesce('"' || cast("c2" as varchar) || '"', 'null'), '}') as "line"
from (
  select "id" as "c0", "dec" as "c1", "running0" as "c2"
  from (
    select *
    from (
      select *, cast(sum("dec") over (order by "at" desc nulls last, "uploaded_at" asc nulls last, "id" asc nulls last rows between unbounded preceding and current row) as decimal(38, 3)) as "running0"
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "dec" as "dec", "at" as "at"
        from (select cast(null as varchar) as "experiment_id", cast(null as varchar) as "id", cast(null as timestamptz) as "uploaded_at", cast(null as varchar) as "upload_id", cast(null as varchar) as "contributor_id", cast(null as boolean) as "bool", cast(null as integer) as "int", cast(null as bigint) as "big", cast(null as decimal(12, 3)) as "dec", cast(null as double) as "dbl", cast(null as varchar) as "txt", cast(null as date) as "day", cast(null as timestamptz) as "at", cast(null as timestamp) as "clock", cast(null as varchar) as "json" where false union all by name select * from read_parquet(?, union_by_name = true))
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
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 6
