select concat(cast(? as STRING), coalesce(concat('"', case when year(`c0`) not between 0 and 9999 then concat(format_string('%+07d', year(`c0`)), date_format(`c0`, '-MM-dd')) else date_format(`c0`, 'yyyy-MM-dd') end, '"'), 'null'), cast(? as STRING), coalesce(case when `c1` is not null then substring(to_json(array(`c1`)), 2, length(to_json(array(`c1`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when `c2` between -9007199254740992 and 9007199254740992 then cast(`c2` as STRING) else concat('"', cast(`c2` as STRING), '"') end, 'null'), cast(? as STRING), coalesce(case when `c3` between -9007199254740992 and 9007199254740992 then cast(`c3` as STRING) else concat('"', cast(`c3` as STRING), '"') end, 'null'), '}') as `line`
from (
  select *
  from (
    select `c0` as `c0`, `c1` as `c1`, cast(sum(cast(`c2` as BIGINT)) over (partition by `c1` order by `c0` asc nulls last rows between unbounded preceding and current row) as BIGINT) as `c2`, cast(sum(cast(`c3` as BIGINT)) over (partition by `c1` order by `c0` asc nulls last rows between unbounded preceding and current row) as BIGINT) as `c3`
    from (
      select cast(trunc(`day`, 'MONTH') as DATE) as `c0`, `txt` as `c1`, cast(sum(cast(`int` as BIGINT)) as BIGINT) as `c2`, count(*) as `c3`
      from (
        select `int` as `int`, `txt` as `txt`, `day` as `day`
        from delta.`s3://field-lake/tables/rows` version as of 7
        where `experiment_id` = cast(? as STRING)
      )
      group by 1, 2
    )
  )
  order by `c0` asc nulls last, `c1` asc nulls last
  limit ?
)

-- STRING: {"day_month":
-- STRING: ,"txt":
-- STRING: ,"int_cumsum":
-- STRING: ,"count_cumsum":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
