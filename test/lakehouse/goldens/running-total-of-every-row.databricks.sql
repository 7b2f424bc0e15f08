select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(concat('"', cast(`c1` as STRING), '"'), 'null'), cast(? as STRING), coalesce(concat('"', cast(`c2` as STRING), '"'), 'null'), '}') as `line`
from (
  select `id` as `c0`, `dec` as `c1`, `running0` as `c2`
  from (
    select *
    from (
      select *, cast(sum(cast(`dec` as DECIMAL(38,3))) over (order by `at` desc nulls last, `uploaded_at` asc nulls last, `id` asc nulls last rows between unbounded preceding and current row) as DECIMAL(38,3)) as `running0`
      from (
        select `id` as `id`, `uploaded_at` as `uploaded_at`, `dec` as `dec`, `at` as `at`
        from delta.`s3://field-lake/tables/rows` version as of 7
        where `experiment_id` = cast(? as STRING)
      )
    )
    order by `at` desc nulls last, `uploaded_at` asc nulls last, `id` asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: ,"dec":
-- STRING: ,"dec_cumsum":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 6
