select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce(cast(to_json("c1") as varchar), 'null'), cast(? as varchar), coalesce(case when isfinite("c2") then cast("c2" + 0 as varchar) end, 'null'), '}') as "line"
from (
  select "id" as "c0", case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then cast(to_json(cast(json_extract_string(case when json_valid("json") then "json" end, ?) as double)) as varchar) else json_extract_string(case when json_valid("json") then "json" end, ?) end as "c1", case when isfinite(try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double)) then try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double) end as "c2"
  from (
    select *
    from (
      select *
      from (
        select "id" as "id", "uploaded_at" as "uploaded_at", "json" as "json"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
        where "experiment_id" = cast(? as varchar)
      )
      where (case when isfinite(try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double)) then try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double) end > cast(? as double)) and (try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as boolean) = cast(? as boolean)) and (starts_with(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then cast(to_json(cast(json_extract_string(case when json_valid("json") then "json" end, ?) as double)) as varchar) else json_extract_string(case when json_valid("json") then "json" end, ?) end, cast(? as varchar))) and (case when isfinite(try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double)) then try_cast(case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), ?) then json_extract_string(case when json_valid("json") then "json" end, ?) end as double) end is not null)
    )
    order by case when regexp_matches(json_extract_string(case when json_valid("json") then "json" end, ?), '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then cast(to_json(cast(json_extract_string(case when json_valid("json") then "json" end, ?) as double)) as varchar) else json_extract_string(case when json_valid("json") then "json" end, ?) end asc nulls last, "uploaded_at" asc nulls last, "id" asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: ,"json.phi2":
-- STRING: ,"json.\"a.b\".c::double":
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: $."a.b"."c"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."a.b"."c"
-- STRING: $."a.b"."c"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."a.b"."c"
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"json":{"name":"json","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: $."phi2"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."phi2"
-- DOUBLE: 0.5
-- STRING: $."ok"
-- STRING: ^(true|false)$
-- STRING: $."ok"
-- BOOLEAN: true
-- STRING: $."name"
-- STRING: $."name"
-- STRING: $."name"
-- STRING: a
-- STRING: $."count"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."count"
-- STRING: $."count"
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $."count"
-- STRING: $."phi2"
-- STRING: $."phi2"
-- STRING: $."phi2"
-- BIGINT: 11
