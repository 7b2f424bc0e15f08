-- grain: one record that could not be stored
-- key: id
-- from: the list of refused records that src/ingest wrote while it read the file
select getvariable('source') || fieldlake_row as id, getvariable('uploaded_at')::timestamptz as quarantined_at,
  getvariable('experiment_id') as experiment_id, getvariable('upload_id') as upload_id, getvariable('contributor_id')::varchar as contributor_id,
  getvariable('table_id') as table_id, getvariable('path') as path, fieldlake_row, line::bigint as line, byte_offset::bigint as byte_offset, reason, original_text
from read_csv(getvariable('refused'), auto_detect = false, delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false,
  header = false, strict_mode = true, new_line = '\n', max_line_size = 33554432, buffer_size = 67108864, parallel = false,
  columns = {'fieldlake_row': 'VARCHAR', 'line': 'VARCHAR', 'byte_offset': 'VARCHAR', 'reason': 'VARCHAR', 'original_text': 'VARCHAR'})
