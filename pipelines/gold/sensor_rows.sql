-- grain: one sensor with one firmware in one experiment
-- key: id
-- from: what src/ingest wrote of the devices' facts
select id, device_id, client_id, device_firmware, device_name, device_version, device_battery, total_measurements,
  processed_timestamp::timestamptz as processed_timestamp, experiment_id
from read_json(getvariable('devices'), format = 'newline_delimited', columns = {'id': 'VARCHAR', 'device_id': 'VARCHAR', 'client_id': 'VARCHAR',
  'device_firmware': 'VARCHAR', 'device_name': 'VARCHAR', 'device_version': 'VARCHAR', 'device_battery': 'DOUBLE', 'total_measurements': 'BIGINT',
  'processed_timestamp': 'VARCHAR', 'experiment_id': 'VARCHAR'})
