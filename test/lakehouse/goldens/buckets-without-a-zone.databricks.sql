select concat(cast(? as STRING), coalesce(concat('"', case when year(`c0`) not between 0 and 9999 then concat(format_string('%+07d', year(`c0`)), date_format(`c0`, '-MM-dd')) else date_format(`c0`, 'yyyy-MM-dd') end, '"'), 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `c1`) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(`c1`)), date_format(`c1`, "-MM-dd'T'HH:mm:ss.SSSSSS")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `c1`) % 1000 = 0 then date_format(`c1`, "yyyy-MM-dd'T'HH:mm:ss.SSS") else date_format(`c1`, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS") end end, '"'), 'null'), cast(? as STRING), coalesce(case when `c2` between -9007199254740992 and 9007199254740992 then cast(`c2` as STRING) else concat('"', cast(`c2` as STRING), '"') end, 'null'), '}') as `line`
from (
  select *
  from (
    select cast(trunc(`day`, 'WEEK') as DATE) as `c0`, date_trunc('QUARTER', `clock`) as `c1`, count(*) as `c2`
    from (
      select `day` as `day`, `clock` as `clock`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
    group by 1, 2
  )
  order by `c0` asc nulls last, `c1` asc nulls last
  limit ?
)

-- STRING: {"day_week":
-- STRING: ,"clock_quarter":
-- STRING: ,"count_count":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
