select count(*) as `c0`
from (
  select *
  from (
    select `txt` as `txt`
    from delta.`s3://field-lake/tables/rows` version as of 7
    where `experiment_id` = cast(? as STRING)
  )
  where (contains(`txt`, cast(? as STRING))) and (startswith(`txt`, cast(? as STRING))) and (`txt` in (cast(? as STRING), cast(? as STRING)))
)

-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 50%_
-- STRING: a
-- STRING: a
-- STRING: b
