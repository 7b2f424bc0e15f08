-- grain: one table of one experiment: its rows now, and a word that is another one after any change
-- key: experiment_id, identifier
-- from: raw_data, device, macro, upload, quarantine, silver_uploaded_files
with counted as (
  select experiment_id, 'raw_data' as kind, 'raw_data' as identifier, count(*) as row_count, max(processed_timestamp) as changed_at, bit_xor(xxhash64(id)) as content
  from raw_data group by experiment_id
  union all
  select experiment_id, 'device', 'device', count(*), max(processed_timestamp), bit_xor(xxhash64(id)) from device group by experiment_id
  union all
  select experiment_id, 'macro', macro_id, count(*), max(processed_timestamp), bit_xor(xxhash64(id)) from macro group by experiment_id, macro_id
  union all
  select experiment_id, 'quarantine', 'quarantine', count(*), max(quarantined_at), bit_xor(xxhash64(id)) from quarantine group by experiment_id
  union all
  select f.experiment_id, 'upload', f.table_id, coalesce(max(u.row_count), 0), max(f.uploaded_at), coalesce(max(u.content), 0) + count(*)
  from silver_uploaded_files f
    left join (select upload_table_id, count(*) as row_count, bit_xor(xxhash64(id)) as content from upload group by upload_table_id) u on u.upload_table_id = f.table_id
  group by f.experiment_id, f.table_id
)
select c.experiment_id, c.kind, c.identifier, n.name, c.row_count, c.changed_at,
  concat(c.row_count, ' ', unix_micros(c.changed_at), ' ', hex(c.content)) as state
from counted c left join (select table_id, max(table_name) as name from silver_uploaded_files group by table_id) n on n.table_id = c.identifier
