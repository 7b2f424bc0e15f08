select concat(cast(? as varchar), coalesce('"' || case when "c0" not between date '0000-01-01' and date '9999-12-31' then printf('%+07d', year("c0")) || strftime("c0", '-%m-%d') else strftime("c0", '%Y-%m-%d') end || '"', 'null'), cast(? as varchar), coalesce('"' || case when epoch_us("c1") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year("c1")) || strftime("c1", '-%m-%dT%H:%M:%S.%f') else case when epoch_us("c1") % 1000 = 0 then strftime("c1", '%Y-%m-%dT%H:%M:%S.%g') else strftime("c1", '%Y-%m-%dT%H:%M:%S.%f') end end || '"', 'null'), cast(? as varchar), coalesce(case when "c2" between -9007199254740992 and 9007199254740992 then cast("c2" as varchar) else '"' || cast("c2" as varchar) || '"' end, 'null'), '}') as "line"
from (
  select *
  from (
    select cast(date_trunc('week', "day") as date) as "c0", date_trunc('quarter', "clock") as "c1", count(*) as "c2"
    from (
      select "day" as "day", "clock" as "clock"
      from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
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
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"day":{"name":"day","type":"date","default_value":null},"clock":{"name":"clock","type":"timestamp","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
