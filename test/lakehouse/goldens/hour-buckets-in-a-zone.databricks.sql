select concat(cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c0`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`c0`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`c0`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c0`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c0`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c0`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), cast(? as STRING), coalesce(case when `c1` between -9007199254740992 and 9007199254740992 then cast(`c1` as STRING) else concat('"', cast(`c1` as STRING), '"') end, 'null'), '}') as `line`
from (
  select *
  from (
    select timestamp_micros(unix_micros(`at`) - timestampdiff(MICROSECOND, date_trunc('HOUR', convert_timezone('UTC', ?, timestampadd(MICROSECOND, unix_micros(`at`), timestamp_ntz'1970-01-01 00:00:00'))), convert_timezone('UTC', ?, timestampadd(MICROSECOND, unix_micros(`at`), timestamp_ntz'1970-01-01 00:00:00')))) as `c0`, count(*) as `c1`
    from (
      select `at` as `at`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
    group by 1
  )
  order by `c0` asc nulls last
  limit ?
)

-- STRING: {"at_hour":
-- STRING: ,"count_count":
-- STRING: Europe/Amsterdam
-- STRING: Europe/Amsterdam
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
