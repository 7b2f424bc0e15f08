select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when `c1` is not null then substring(to_json(array(`c1`)), 2, length(to_json(array(`c1`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when abs(`c2`) < cast('Infinity' as DOUBLE) then cast(`c2` + 0 as STRING) end, 'null'), '}') as `line`
from (
  select `id` as `c0`, element_at(transform(array(get_json_object(`json`, ?)), e -> case when not regexp_like(e, '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then e when regexp_like(e, 'E([7-9]|1[0-9]|20)$') then regexp_replace(cast(cast(e as DECIMAL(38,17)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') when regexp_like(e, 'E-[4-6]$') then regexp_replace(cast(cast(e as DECIMAL(38,30)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') else replace(replace(e, '.0E', 'e'), 'E', 'e') end), 1) as `c1`, case when abs(try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE)) < cast('Infinity' as DOUBLE) then try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE) end as `c2`
  from (
    select *
    from (
      select *
      from (
        select `id` as `id`, `uploaded_at` as `uploaded_at`, `json` as `json`
        from delta.`s3://field-lake/tables/rows` version as of 7
        where `experiment_id` = cast(? as STRING)
      )
      where (case when abs(try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE)) < cast('Infinity' as DOUBLE) then try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE) end > cast(? as DOUBLE)) and (try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as BOOLEAN) = cast(? as BOOLEAN)) and (startswith(element_at(transform(array(get_json_object(`json`, ?)), e -> case when not regexp_like(e, '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then e when regexp_like(e, 'E([7-9]|1[0-9]|20)$') then regexp_replace(cast(cast(e as DECIMAL(38,17)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') when regexp_like(e, 'E-[4-6]$') then regexp_replace(cast(cast(e as DECIMAL(38,30)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') else replace(replace(e, '.0E', 'e'), 'E', 'e') end), 1), cast(? as STRING))) and (case when abs(try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE)) < cast('Infinity' as DOUBLE) then try_cast(case when regexp_like(get_json_object(`json`, ?), ?) then get_json_object(`json`, ?) end as DOUBLE) end is not null)
    )
    order by element_at(transform(array(get_json_object(`json`, ?)), e -> case when not regexp_like(e, '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$') then e when regexp_like(e, 'E([7-9]|1[0-9]|20)$') then regexp_replace(cast(cast(e as DECIMAL(38,17)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') when regexp_like(e, 'E-[4-6]$') then regexp_replace(cast(cast(e as DECIMAL(38,30)) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1') else replace(replace(e, '.0E', 'e'), 'E', 'e') end), 1) asc nulls last, `uploaded_at` asc nulls last, `id` asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: ,"json.phi2":
-- STRING: ,"json.\"a.b\".c::double":
-- STRING: $['phi2']
-- STRING: $['a.b']['c']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['a.b']['c']
-- STRING: $['a.b']['c']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['a.b']['c']
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: $['phi2']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['phi2']
-- STRING: $['phi2']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['phi2']
-- DOUBLE: 0.5
-- STRING: $['ok']
-- STRING: ^(true|false)$
-- STRING: $['ok']
-- BOOLEAN: true
-- STRING: $['name']
-- STRING: a
-- STRING: $['count']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['count']
-- STRING: $['count']
-- STRING: ^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$
-- STRING: $['count']
-- STRING: $['phi2']
-- BIGINT: 11
