select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when abs(`c1`) < cast('Infinity' as DOUBLE) then cast(`c1` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when `c2` is not null then substring(to_json(array(`c2`)), 2, length(to_json(array(`c2`))) - 2) end, 'null'), '}') as `line`
from (
  select `id` as `c0`, `dbl` as `c1`, `txt` as `c2`
  from (
    select *
    from (
      select `id` as `id`, `uploaded_at` as `uploaded_at`, `dbl` as `dbl`, `txt` as `txt`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
    order by `dbl` desc nulls last, `uploaded_at` asc nulls last, `id` asc nulls last
    limit ? offset ?
  )
)

-- STRING: {"id":
-- STRING: ,"dbl":
-- STRING: ,"txt":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 50
-- BIGINT: 100
