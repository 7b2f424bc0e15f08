select concat(cast(? as STRING), coalesce(case when abs(`c0`) < cast('Infinity' as DOUBLE) then cast(`c0` as STRING) end, 'null'), '}') as `line`
from (
  select *
  from (
    select avg(`dbl`) as `c0`
    from (
      select try_variant_get(`uploaded_data`, ?, ?) as `dbl`
      from `gold`.`upload`
      where `experiment_id` = cast(? as STRING) and `upload_table_id` = cast(? as STRING)
    )
  )
  order by `c0` asc nulls last
  limit ?
)

-- STRING: {"mean":
-- STRING: $['dbl']
-- STRING: DOUBLE
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-0000000000aa
-- BIGINT: 100001
