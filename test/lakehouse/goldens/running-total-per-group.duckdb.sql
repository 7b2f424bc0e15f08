select concat(cast(? as varchar), coalesce('"' || case when "c0" not between date '0000-01-01' and date '9999-12-31' then printf('%+07d', year("c0")) || strftime("c0", '-%m-%d') else strftime("c0", '%Y-%m-%d') end || '"', 'null'), cast(? as varchar), coalesce(cast(to_json("c1") as varchar), 'null'), cast(? as varchar), coalesce(case when "c2" between -9007199254740992 and 9007199254740992 then cast("c2" as varchar) else '"' || cast("c2" as varchar) || '"' end, 'null'), cast(? as varchar), coalesce(case when "c3" between -9007199254740992 and 9007199254740992 then cast("c3" as varchar) else '"' || cast("c3" as varchar) || '"' end, 'null'), '}') as "line"
from (
  select *
  from (
    select "c0" as "c0", "c1" as "c1", cast(sum("c2") over (partition by "c1" order by "c0" asc nulls last rows between unbounded preceding and current row) as bigint) as "c2", cast(sum("c3") over (partition by "c1" order by "c0" asc nulls last rows between unbounded preceding and current row) as bigint) as "c3"
    from (
      select cast(date_trunc('month', "day") as date) as "c0", "txt" as "c1", cast(sum("int") as bigint) as "c2", count(*) as "c3"
      from (
        select "int" as "int", "txt" as "txt", "day" as "day"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
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
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"int":{"name":"int","type":"integer","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null},"day":{"name":"day","type":"date","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
