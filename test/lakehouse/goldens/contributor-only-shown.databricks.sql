select concat(cast(? as STRING), coalesce(case when `c0` is not null then concat(?, coalesce(case when `c0`.`id` is not null then substring(to_json(array(`c0`.`id`)), 2, length(to_json(array(`c0`.`id`))) - 2) end, 'null'), ?, coalesce(case when `c0`.`name` is not null then substring(to_json(array(`c0`.`name`)), 2, length(to_json(array(`c0`.`name`))) - 2) end, 'null'), ?, coalesce(case when `c0`.`avatar` is not null then substring(to_json(array(`c0`.`avatar`)), 2, length(to_json(array(`c0`.`avatar`))) - 2) end, 'null'), '}') end, 'null'), cast(? as STRING), coalesce(cast(`c1` as STRING), 'null'), '}') as `line`
from (
  select `contributor` as `c0`, `int` as `c1`
  from (
    select *
    from (
      select l.*, r.`contributor`
      from (
        select *
        from (
          select `id` as `id`, `uploaded_at` as `uploaded_at`, `contributor_id` as `contributor_id`, `int` as `int`
          from delta.`s3://field-lake/tables/rows` version as of 7
          where `experiment_id` = cast(? as STRING)
        )
        order by `uploaded_at` asc nulls last, `id` asc nulls last
        limit ?
      ) as l
      left join (select `user_id`, case when `user_id` is not null then named_struct(?, `user_id`, ?, `name`, ?, `avatar`) end as `contributor` from (
        select `user_id` as `user_id`, max(`name`) as `name`, max(`avatar`) as `avatar`
        from (
          select `user_id` as `user_id`, `name` as `name`, `avatar` as `avatar`
          from delta.`s3://field-lake/tables/people` version as of 7
          where `experiment_id` = cast(? as STRING)
        )
        group by 1
      )) as r on l.`contributor_id` = r.`user_id`
    )
    order by `uploaded_at` asc nulls last, `id` asc nulls last
  )
)

-- STRING: {"contributor":
-- STRING: {"id":
-- STRING: ,"name":
-- STRING: ,"avatar":
-- STRING: ,"int":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 11
-- STRING: id
-- STRING: name
-- STRING: avatar
-- STRING: 01990000-0000-7000-8000-000000000001
