select *
from (
  select `txt` as `c0`
  from (
    select *
    from (
      select `txt` as `txt`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
    where `txt` > cast(? as STRING)
  )
  group by 1
)
order by `c0` asc nulls last
limit ?

-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 
-- BIGINT: 201
