select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce(case when isfinite("c1") then cast("c1" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(cast(to_json("c2") as varchar), 'null'), cast(? as varchar), coalesce(case when isfinite("c3") then cast("c3" + 0 as varchar) end, 'null'), '}') as "line"
from (
  select *
  from (
    select case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then cast(to_json(cast(json_extract_string(case when json_valid("json") then "json" end, ?) as double)) as varchar) else json_extract_string(case when json_valid("json") then "json" end, ?) end as "c0", avg(case when isfinite(try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double)) then try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double) end) as "c1", max(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then cast(to_json(cast(json_extract_string(case when json_valid("json") then "json" end, ?) as double)) as varchar) else json_extract_string(case when json_valid("json") then "json" end, ?) end) as "c2", max(case when isfinite(try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double)) then try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double) end) as "c3"
    from (
      select "json" as "json"
      from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
      where "experiment_id" = cast(? as varchar)
    )
    group by 1
  )
  order by "c0" asc nulls last
  limit ?
)

-- STRING: {"json.name":
-- STRING: ,"json.phi2_avg":
-- STRING: ,"json.phi2_max":
-- STRING: ,"json.phi2::double_max":
-- STRING: $."name"
-- STRING: $."name"
-- STRING: $."name"
-- STRING: $."phi2"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."phi2"
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"json":{"name":"json","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
