select concat(cast(? as varchar), coalesce('"' || case when epoch_us("c0") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us("c0")))) || strftime(make_timestamp(epoch_us("c0")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us("c0") % 1000 = 0 then strftime(make_timestamp(epoch_us("c0")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c0")), '%Y-%m-%dT%H:%M:%S.%fZ') end end || '"', 'null'), cast(? as varchar), coalesce(case when isfinite("c1") then cast("c1" + 0 as varchar) end, 'null'), '}') as "line"
from (
  select *
  from (
    select make_timestamptz((case when epoch_us("at") < 0 then epoch_us("at") - 3600000000 + 1 else epoch_us("at") end // 3600000000) * 3600000000) as "c0", avg("dbl") as "c1"
    from (
      select "dbl" as "dbl", "at" as "at"
      from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
      where "experiment_id" = cast(? as varchar)
    )
    group by (case when epoch_us("at") < 0 then epoch_us("at") - 3600000000 + 1 else epoch_us("at") end // 3600000000)
  )
  order by "c0" desc nulls last
  limit ?
)

-- STRING: {"at_hour":
-- STRING: ,"dbl_avg":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 25
