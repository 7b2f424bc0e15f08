-- grain: what one macro made of one measurement
-- key: id
-- from: the macro outputs of one batch, beside the facts of their measurements; {{values}} are the keys of the outputs
select fieldlake_row as id, device_id, device_name, measured_at::timestamptz as "timestamp", measured_at::timestamptz as measurement_time_utc,
  zones.name as timezone, latitude::double as latitude, longitude::double as longitude, workbook_run_id, macro_error,
  processed_at::timestamptz as processed_timestamp,
  strftime(measured_at::timestamptz at time zone zones.name, '%Y-%m-%d %H:%M:%S') as measurement_time_local,
  left(right(measurement_time_local, 8), 5) as local_time,
  getvariable('experiment_id') as experiment_id, raw_id, getvariable('macro_id') as macro_id, macro_name, macro_filename, macro_version,
  cast(measured_at::timestamptz at time zone 'UTC' as date) as date, contributor_id, client_id{{values}}
from bronze_records left join time_zones as zones on zones.name = bronze_records.timezone
