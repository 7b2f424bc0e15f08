-- grain: one measurement: one message, or one element of its burst
-- key: id
-- from: the measurements of one batch of messages, one field each, as src/ingest/messages/rows.ts took them apart
select fieldlake_row as id, device_id, device_name, measured_at::timestamptz as "timestamp", measured_at::timestamptz as measurement_time_utc,
  zones.name as timezone, cast(measured_at::timestamptz at time zone 'UTC' as date) as date,
  from_json(macros, '[{"id":"VARCHAR","name":"VARCHAR","filename":"VARCHAR"}]') as macros,
  protocol_id, workbook_run_id, latitude::double as latitude, longitude::double as longitude, data::json as data,
  processed_at::timestamptz as processed_timestamp,
  strftime(measured_at::timestamptz at time zone zones.name, '%Y-%m-%d %H:%M:%S') as measurement_time_local,
  left(right(measurement_time_local, 8), 5) as local_time,
  getvariable('experiment_id') as experiment_id, contributor_id, client_id, workbook_version_id, macro_context{{questions}}
from bronze_records left join time_zones as zones on zones.name = bronze_records.timezone
