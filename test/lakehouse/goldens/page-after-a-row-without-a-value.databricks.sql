select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), '}') as `line`, concat('[', coalesce(case when cast(`k0` as STRING) is not null then substring(to_json(array(cast(`k0` as STRING))), 2, length(to_json(array(cast(`k0` as STRING)))) - 2) end, 'null'), ',', coalesce(case when case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end is not null then substring(to_json(array(case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end)), 2, length(to_json(array(case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`k1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end))) - 2) end, 'null'), ',', coalesce(case when `k2` is not null then substring(to_json(array(`k2`)), 2, length(to_json(array(`k2`))) - 2) end, 'null'), ']') as `key`
from (
  select `id` as `c0`, `int` as `k0`, `uploaded_at` as `k1`, `id` as `k2`
  from (
    select *
    from (
      select *
      from (
        select `id` as `id`, `uploaded_at` as `uploaded_at`, `int` as `int`
        from delta.`s3://field-lake/tables/rows` version as of 7
        where `experiment_id` = cast(? as STRING)
      )
      where (`int` is null) and (((`int` is null) and (`uploaded_at` is null) and ((`id` > cast(? as STRING)) or (`id` is null))))
    )
    order by `int` asc nulls last, `uploaded_at` asc nulls last, `id` asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: r1
-- BIGINT: 101
