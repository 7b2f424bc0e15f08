select concat(cast(? as varchar), coalesce('"' || strftime("c0", '%Y-%m-%d') || '"', 'null'), cast(? as varchar), coalesce(cast(to_json("c1") as varchar), 'null'), cast(? as varchar), coalesce(case when "c2" between -9007199254740992 and 9007199254740992 then cast("c2" as varchar) else '"' || cast("c2" as varchar) || '"' end, 'null'), cast(? as varchar), coalesce(case when "c3" between -9007199254740992 and 9007199254740992 then cast("c3" as varchar) else '"' || cast("c3" as varchar) || '"' end, 'null'), '}') as "line"
from (
  select *
  from (
    select "c0" as "c0", "c1" as "c1", cast(sum("c2") over (partition by "c1" order by "c0" asc nulls last rows between unbounded preceding and current row) as decimal(38, 0)) as "c2", cast(sum("c3") over (partition by "c1" order by "c0" asc nulls last rows between unbounded preceding and current row) as bigint) as "c3"
    from (
      select cast(date_trunc('month', "day") as date) as "c0", "txt" as "c1", cast(sum("int") as decimal(38, 0)) as "c2", count(*) as "c3"
      from (
        select "int" as "int", "txt" as "txt", "day" as "day"
        from (select cast(null as varchar) as "experiment_id", cast(null as varchar) as "id", cast(null as timestamptz) as "uploaded_at", cast(null as varchar) as "upload_id", cast(null as varchar) as "contributor_id", cast(null as boolean) as "bool", cast(null as integer) as "int", cast(null as bigint) as "big", cast(null as decimal(12, 3)) as "dec", cast(null as double) as "dbl", cast(null as varchar) as "txt", cast(null as date) as "day", cast(null as timestamptz) as "at", cast(null as timestamp) as "clock", cast(null as varchar) as "json" where false union all by name select * from read_parquet(?, union_by_name = true))
        where "experiment_id" = cast(? as varchar)
      )
      group by 1, 2
    )
  )
  order by "c0" asc nulls last, "c1" asc nulls last
  limit ?
)

-- STRING: {"day_month":
-- STRING: ,"txt":
-- STRING: ,"int_cumsum":
-- STRING: ,"count_cumsum":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
