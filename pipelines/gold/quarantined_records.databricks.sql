-- grain: one record that could not be stored
-- key: id
-- from: bronze_upload_refusals, silver_uploaded_files
select concat(f.source, r.fieldlake_row) as id, f.uploaded_at as quarantined_at, f.experiment_id, f.upload_id, f.contributor_id, f.table_id, f.path,
  r.fieldlake_row, try_cast(r.line as bigint) as line, try_cast(r.byte_offset as bigint) as byte_offset, r.reason, r.original_text
from (select distinct file_id, fieldlake_row, line, byte_offset, reason, original_text from bronze_upload_refusals) r
  join silver_uploaded_files f on f.file_id = r.file_id and f.brings
