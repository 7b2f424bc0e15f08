select concat(cast(? as STRING), coalesce(cast(`c0` as STRING), 'null'), cast(? as STRING), coalesce(case when `c1` is not null then substring(to_json(array(`c1`)), 2, length(to_json(array(`c1`))) - 2) end, 'null'), '}') as `line`
from (
  select *
  from (
    select `bool` as `c0`, `contributor`.`name` as `c1`
    from (
      select l.*, r.`contributor`
      from (
        select `contributor_id` as `contributor_id`, `bool` as `bool`
        from delta.`s3://field-lake/tables/rows` version as of 7
        where `experiment_id` = cast(? as STRING)
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
    group by 1, 2
  )
  order by `c0` asc nulls last, `c1` asc nulls last
  limit ?
)

-- STRING: {"bool":
-- STRING: ,"contributor.name":
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: id
-- STRING: name
-- STRING: avatar
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
