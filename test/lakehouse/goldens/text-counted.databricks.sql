select count(*) as `c0`
from (
  select *
  from (
    select try_variant_get(`uploaded_data`, ?, ?) as `txt`
    from `gold`.`upload`
    where `experiment_id` = cast(? as STRING) and `upload_table_id` = cast(? as STRING)
  )
  where (contains(`txt`, cast(? as STRING))) and (startswith(`txt`, cast(? as STRING))) and (`txt` in (cast(? as STRING), cast(? as STRING)))
)

-- STRING: $['txt']
-- STRING: STRING
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-0000000000aa
-- STRING: 50%_
-- STRING: a
-- STRING: a
-- STRING: b
