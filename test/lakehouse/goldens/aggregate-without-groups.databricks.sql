select concat(cast(? as STRING), coalesce(case when abs(`c0`) < cast('Infinity' as DOUBLE) then cast(`c0` + 0 as STRING) end, 'null'), '}') as `line`
from (
  select *
  from (
    select avg(`dbl`) as `c0`
    from (
      select `dbl` as `dbl`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
  )
  order by `c0` asc nulls last
  limit ?
)

-- STRING: {"mean":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
