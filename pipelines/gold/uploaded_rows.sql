-- grain: one stored row of an upload table
-- key: id
-- from: silver_values
select getvariable('source') || fieldlake_row as id, getvariable('uploaded_at')::timestamptz as uploaded_at,
  getvariable('experiment_id') as experiment_id, getvariable('upload_id') as upload_id, getvariable('contributor_id')::varchar as contributor_id,
  silver_values.* exclude (fieldlake_row)
from silver_values
