-- grain: one measurement; of a burst, one of its samples
-- key: id
-- from: the lines that src/ingest wrote of messages that were taken
select id, device_id, device_name, timestamp::timestamptz as timestamp, timestamp::timestamptz as measurement_time_utc, timezone, date::date as date,
  from_json(macros, '[{"id":"VARCHAR","name":"VARCHAR","filename":"VARCHAR"}]') as macros, protocol_id, workbook_run_id,
  latitude, longitude, data::json as data, processed_timestamp::timestamptz as processed_timestamp, measurement_time_local, local_time,
  experiment_id, contributor_id, client_id
from read_json(getvariable('messages'), format = 'newline_delimited', maximum_object_size = 67108864, columns = {'id': 'VARCHAR', 'device_id': 'VARCHAR',
  'device_name': 'VARCHAR', 'timestamp': 'VARCHAR', 'timezone': 'VARCHAR', 'date': 'VARCHAR', 'macros': 'VARCHAR', 'protocol_id': 'VARCHAR',
  'workbook_run_id': 'VARCHAR', 'latitude': 'DOUBLE', 'longitude': 'DOUBLE', 'data': 'VARCHAR', 'processed_timestamp': 'VARCHAR',
  'measurement_time_local': 'VARCHAR', 'local_time': 'VARCHAR', 'experiment_id': 'VARCHAR', 'contributor_id': 'VARCHAR', 'client_id': 'VARCHAR'})
