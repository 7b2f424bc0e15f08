select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when `c1` between -9007199254740992 and 9007199254740992 then cast(`c1` as STRING) else concat('"', cast(`c1` as STRING), '"') end, 'null'), cast(? as STRING), coalesce(case when `c2` between -9007199254740992 and 9007199254740992 then cast(`c2` as STRING) else concat('"', cast(`c2` as STRING), '"') end, 'null'), cast(? as STRING), coalesce(case when `c3` between -9007199254740992 and 9007199254740992 then cast(`c3` as STRING) else concat('"', cast(`c3` as STRING), '"') end, 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c4`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c4`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c4`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end, '"'), 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c5`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c5`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c5`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end, '"'), 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c6`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c6`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c6`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end, '"'), 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c7`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c7`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c7`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end, '"'), 'null'), cast(? as STRING), coalesce(case when `c8` between -9007199254740992 and 9007199254740992 then cast(`c8` as STRING) else concat('"', cast(`c8` as STRING), '"') end, 'null'), cast(? as STRING), coalesce(case when abs(`c9`) < cast('Infinity' as DOUBLE) then cast(`c9` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when abs(`c10`) < cast('Infinity' as DOUBLE) then cast(`c10` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when abs(`c11`) < cast('Infinity' as DOUBLE) then cast(`c11` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when abs(`c12`) < cast('Infinity' as DOUBLE) then cast(`c12` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when abs(`c13`) < cast('Infinity' as DOUBLE) then cast(`c13` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when abs(`c14`) < cast('Infinity' as DOUBLE) then cast(`c14` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(concat('"', cast(`c15` as STRING), '"'), 'null'), cast(? as STRING), coalesce(case when abs(`c16`) < cast('Infinity' as DOUBLE) then cast(`c16` + 0 as STRING) end, 'null'), '}') as `line`
from (
  select *
  from (
    select `txt` as `c0`, count(*) as `c1`, count(`at`) as `c2`, count(distinct `at`) as `c3`, min(`at`) as `c4`, max(`at`) as `c5`, min_by(`at`, struct(`uploaded_at` is null, `uploaded_at`, `id` is null, `id`)) filter (where `at` is not null) as `c6`, max_by(`at`, struct(`uploaded_at` is not null, `uploaded_at`, `id` is not null, `id`)) filter (where `at` is not null) as `c7`, cast(sum(cast(`int` as BIGINT)) as BIGINT) as `c8`, cast(sum(cast(`int` as DECIMAL(38,0))) as DOUBLE) / nullif(count(`int`), 0) as `c9`, case when abs(stddev_samp(cast(`int` as DOUBLE))) < cast('Infinity' as DOUBLE) then stddev_samp(cast(`int` as DOUBLE)) end as `c10`, case when abs(var_samp(cast(`int` as DOUBLE))) < cast('Infinity' as DOUBLE) then var_samp(cast(`int` as DOUBLE)) end as `c11`, percentile(cast(`int` as DOUBLE), 0.5) as `c12`, percentile(cast(`int` as DOUBLE), 0.05) as `c13`, percentile(cast(`int` as DOUBLE), 0.95) as `c14`, cast(sum(cast(`dec` as DECIMAL(38,3))) as DECIMAL(38,3)) as `c15`, case when stddev_samp(cast(`dbl` as DOUBLE)) filter (where cast(`int` as DOUBLE) is not null) > 0 and stddev_samp(cast(`dbl` as DOUBLE)) filter (where cast(`int` as DOUBLE) is not null) < cast('Infinity' as DOUBLE) and stddev_samp(cast(`int` as DOUBLE)) filter (where cast(`dbl` as DOUBLE) is not null) > 0 and stddev_samp(cast(`int` as DOUBLE)) filter (where cast(`dbl` as DOUBLE) is not null) < cast('Infinity' as DOUBLE) then case when abs(covar_samp(cast(`dbl` as DOUBLE), cast(`int` as DOUBLE))) < cast('Infinity' as DOUBLE) then covar_samp(cast(`dbl` as DOUBLE), cast(`int` as DOUBLE)) end / stddev_samp(cast(`dbl` as DOUBLE)) filter (where cast(`int` as DOUBLE) is not null) / stddev_samp(cast(`int` as DOUBLE)) filter (where cast(`dbl` as DOUBLE) is not null) end as `c16`
    from (
      select `id` as `id`, `uploaded_at` as `uploaded_at`, `int` as `int`, `dec` as `dec`, `dbl` as `dbl`, `txt` as `txt`, `at` as `at`
      from delta.`s3://field-lake/tables/rows` version as of 7
      where `experiment_id` = cast(? as STRING)
    )
    group by 1
  )
  order by `c0` asc nulls last
  limit ?
)

-- STRING: {"txt":
-- STRING: ,"count_count":
-- STRING: ,"at_count":
-- STRING: ,"at_count_distinct":
-- STRING: ,"at_min":
-- STRING: ,"at_max":
-- STRING: ,"at_first":
-- STRING: ,"at_last":
-- STRING: ,"int_sum":
-- STRING: ,"int_avg":
-- STRING: ,"int_std":
-- STRING: ,"int_var":
-- STRING: ,"int_median":
-- STRING: ,"int_p05":
-- STRING: ,"int_p95":
-- STRING: ,"dec_sum":
-- STRING: ,"dbl_corr_int":
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
