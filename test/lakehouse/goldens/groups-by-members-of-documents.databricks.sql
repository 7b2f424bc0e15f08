select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when abs(`c1`) < cast('Infinity' as DOUBLE) then cast(`c1` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when `c2` is not null then substring(to_json(array(`c2`)), 2, length(to_json(array(`c2`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when abs(`c3`) < cast('Infinity' as DOUBLE) then cast(`c3` + 0 as STRING) end, 'null'), '}') as `line`
from (
  select *
  from (
    select element_at(transform(array(get_json_object(`json`, ?)), e -> case when not regexp_like(e, '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then e when regexp_like(e, 'E([7-9]|1[0-9]|20)$') then regexp_replace(cast(cast(e as DECIMAL(38,17)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') when regexp_like(e, 'E-[4-6]$') then regexp_replace(cast(cast(e as DECIMAL(38,30)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') else replace(replace(e, '.0E', 'e'), 'E', 'e') end), 1) as `c0`, avg(case when abs(try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE)) < cast('Infinity' as DOUBLE) then try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE) end) as `c1`, max(element_at(transform(array(get_json_object(`json`, ?)), e -> case when not regexp_like(e, '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then e when regexp_like(e, 'E([7-9]|1[0-9]|20)$') then regexp_replace(cast(cast(e as DECIMAL(38,17)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') when regexp_like(e, 'E-[4-6]$') then regexp_replace(cast(cast(e as DECIMAL(38,30)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') else replace(replace(e, '.0E', 'e'), 'E', 'e') end), 1)) as `c2`, max(case when abs(try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE)) < cast('Infinity' as DOUBLE) then try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE) end) as `c3`
    from (
      select `json` as `json`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
    group by 1
  )
  order by `c0` asc nulls last
  limit ?
)

-- STRING: {"json.name":
-- STRING: ,"json.phi2_avg":
-- STRING: ,"json.phi2_max":
-- STRING: ,"json.phi2::double_max":
-- STRING: $['name']
-- STRING: $['phi2']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['phi2']
-- STRING: $['phi2']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['phi2']
-- STRING: $['phi2']
-- STRING: $['phi2']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['phi2']
-- STRING: $['phi2']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['phi2']
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
