-- grain: one uploaded file; brings: whether its rows are stored, which those of the first delivery of a file to a table are
-- key: file_id
-- from: bronze_upload_files
select file_id, source, experiment_id, table_id, table_name, upload_id, source_kind, contributor_id, path, ordinal, uploaded_at, reason, message, columns,
  reason is null and row_number() over (partition by source, reason is null order by uploaded_at, ordinal, file_id) = 1 as brings
from (
  select distinct file_id, source, experiment_id, table_id, table_name, upload_id, source_kind, contributor_id, path, try_cast(ordinal as int) as ordinal,
    try_cast(uploaded_at as timestamp) as uploaded_at, reason, message, columns
  from bronze_upload_files
)
