select *
from (
  select `txt` as `c0`
  from (
    select *
    from (
      select try_variant_get(`uploaded_data`, ?, ?) as `txt`
      from `gold`.`upload`
      where `experiment_id` = cast(? as STRING) and `upload_table_id` = cast(? as STRING)
    )
    where `txt` > cast(? as STRING)
  )
  group by 1
)
order by `c0` asc nulls last
limit ?

-- STRING: $['txt']
-- STRING: STRING
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-0000000000aa
-- STRING: 
-- BIGINT: 201
