select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), '}') as `line`, concat('[', coalesce(case when cast(`k0` as STRING) is not null then substring(to_json(array(cast(`k0` as STRING))), 2, length(to_json(array(cast(`k0` as STRING)))) - 2) end, 'null'), ',', coalesce(case when case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end is not null then substring(to_json(array(case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end)), 2, length(to_json(array(case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end))) - 2) end, 'null'), ',', coalesce(case when `k2` is not null then substring(to_json(array(`k2`)), 2, length(to_json(array(`k2`))) - 2) end, 'null'), ']') as `key`
from (
  select `id` as `c0`, `dbl` as `k0`, `uploaded_at` as `k1`, `id` as `k2`
  from (
    select *
    from (
      select *
      from (
        select `id` as `id`, `uploaded_at` as `uploaded_at`, `dbl` as `dbl`, `txt` as `txt`
        from delta.`s3://field-lake/tables/rows` version as of 7
        where `experiment_id` = cast(? as STRING)
      )
      where (`txt` = cast(? as STRING)) and ((`dbl` >= cast(? as DOUBLE)) and ((`dbl` > cast(? as DOUBLE)) or ((`dbl` = cast(? as DOUBLE)) and (`uploaded_at` < cast(? as TIMESTAMP))) or ((`dbl` = cast(? as DOUBLE)) and (`uploaded_at` = cast(? as TIMESTAMP)) and (`id` < cast(? as STRING)))))
    )
    order by `dbl` asc nulls first, `uploaded_at` desc nulls first, `id` desc nulls first
    limit ?
  )
)

-- STRING: {"id":
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: a
-- DOUBLE: NaN
-- DOUBLE: NaN
-- DOUBLE: NaN
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- DOUBLE: NaN
-- TIMESTAMP: 2024-01-01T00:00:00.000Z
-- STRING: r1
-- BIGINT: 101
