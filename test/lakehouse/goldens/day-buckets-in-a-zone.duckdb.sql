select concat(cast(? as varchar), coalesce('"' || case when epoch_us("c0") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us("c0")))) || strftime(make_timestamp(epoch_us("c0")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us("c0") % 1000 = 0 then strftime(make_timestamp(epoch_us("c0")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c0")), '%Y-%m-%dT%H:%M:%S.%fZ') end end || '"', 'null'), cast(? as varchar), coalesce(case when "c1" between -9007199254740992 and 9007199254740992 then cast("c1" as varchar) else '"' || cast("c1" as varchar) || '"' end, 'null'), '}') as "line"
from (
  select *
  from (
    select case when timezone(?, timezone(?, "c0") - interval 1 hour) = "c0" then timezone(?, "c0") - interval 1 hour else timezone(?, "c0") end as "c0", "c1" as "c1"
    from (
      select date_trunc('day', timezone(?, "at")) as "c0", count(*) as "c1"
      from (
        select "at" as "at"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
        where "experiment_id" = cast(? as varchar)
      )
      group by 1
    )
  )
  order by "c0" asc nulls last
  limit ?
)

-- STRING: {"at_day":
-- STRING: ,"count_count":
-- STRING: America/Havana
-- STRING: America/Havana
-- STRING: America/Havana
-- STRING: America/Havana
-- STRING: America/Havana
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
