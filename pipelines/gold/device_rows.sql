-- grain: one device and firmware of an experiment, with the newest of what it said of itself
-- key: id
-- from: the device rows so far, and of one batch of messages the newest that each device said, with how many measurements that stands for
with said as (
  select device_row as id, device_id, client_id, device_firmware, device_name, device_version, device_battery::double as device_battery,
    {{measurements}}::bigint as total_measurements, processed_at::timestamptz as processed_timestamp, measured_at::timestamptz as last_measured_at
  from bronze_records
  union all by name
  {{known}}
)
select id, any_value(device_id) as device_id, arg_max(client_id, struct_pack(at := last_measured_at, said := client_id)) as client_id, any_value(device_firmware) as device_firmware,
  arg_max(device_name, struct_pack(at := last_measured_at, said := device_name)) as device_name, arg_max(device_version, struct_pack(at := last_measured_at, said := device_version)) as device_version,
  arg_max(device_battery, struct_pack(at := last_measured_at, said := device_battery)) as device_battery, sum(total_measurements)::bigint as total_measurements,
  max(processed_timestamp) as processed_timestamp, max(last_measured_at) as last_measured_at, getvariable('experiment_id') as experiment_id
from said group by id
