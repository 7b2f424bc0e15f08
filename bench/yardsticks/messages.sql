-- What an expert writes for one file of these messages: checked and cast, ids of what was sent, local times by zone, sorted, one Parquet file.
copy (
  select left(sha256('{{source}}' || id), 20) || '000000000000' as id, device_id, device_name, cast("timestamp" as timestamptz) as "timestamp",
    cast("timestamp" as timestamptz) as measurement_time_utc, zones.name as timezone, cast(cast("timestamp" as timestamptz) at time zone 'UTC' as date) as date,
    protocol_id, cast(latitude as double) as latitude, cast(longitude as double) as longitude, sample as data, now() as processed_timestamp,
    strftime(cast("timestamp" as timestamptz) at time zone zones.name, '%Y-%m-%d %H:%M:%S') as measurement_time_local,
    strftime(cast("timestamp" as timestamptz) at time zone zones.name, '%H:%M') as local_time, '{{source}}' as experiment_id
  from read_json('{{file}}', format = 'newline_delimited', columns = {id: 'VARCHAR', 'timestamp': 'VARCHAR', timezone: 'VARCHAR', device_id: 'VARCHAR',
    device_name: 'VARCHAR', protocol_id: 'VARCHAR', latitude: 'VARCHAR', longitude: 'VARCHAR', sample: 'JSON'}) sent
    left join (select distinct name from pg_timezone_names()) zones on zones.name = sent.timezone
  order by "timestamp", id
) to '{{out}}' (format parquet, compression zstd, row_group_size 100352)
