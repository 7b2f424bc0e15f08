select concat(cast(? as varchar), coalesce('"' || strftime("c0", '%Y-%m-%d') || '"', 'null'), cast(? as varchar), coalesce('"' || case when epoch_us("c1") % 1000 = 0 then strftime("c1", '%Y-%m-%dT%H:%M:%S.%g') else strftime("c1", '%Y-%m-%dT%H:%M:%S.%f') end || '"', 'null'), cast(? as varchar), coalesce(case when "c2" between -9007199254740992 and 9007199254740992 then cast("c2" as varchar) else '"' || cast("c2" as varchar) || '"' end, 'null'), '}') as "line"
from (
  select *
  from (
    select cast(date_trunc('week', "day") as date) as "c0", date_trunc('quarter', "clock") as "c1", count(*) as "c2"
    from (
      select "day" as "day", "clock" as "clock"
      from (select cast(null as varchar) as "experiment_id", cast(null as varchar) as "id", cast(null as timestamptz) as "uploaded_at", cast(null as varchar) as "upload_id", cast(null as varchar) as "contributor_id", cast(null as boolean) as "bool", cast(null as integer) as "int", cast(null as bigint) as "big", cast(null as decimal(12, 3)) as "dec", cast(null as double) as "dbl", cast(null as varchar) as "txt", cast(null as date) as "day", cast(null as timestamptz) as "at", cast(null as timestamp) as "clock", cast(null as varchar) as "json" where false union all by name select * from read_parquet(?, union_by_name = true))
      where "experiment_id" = cast(? as varchar)
    )
    group by 1, 2
  )
  order by "c0" asc nulls last, "c1" asc nulls last
  limit ?
)

-- STRING: {"day_week":
-- STRING: ,"clock_quarter":
-- STRING: ,"count_count":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
