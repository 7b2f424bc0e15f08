-- grain: one stored row of an upload table
-- key: id
-- from: bronze_upload_records, silver_uploaded_files, silver_uploaded_values
with members as (
  select source, fieldlake_row, name, value from silver_uploaded_values where value is not null
  union all
  select source, fieldlake_row, concat(substr(name, 1, 249), '__text'), cast(odd as variant) from silver_uploaded_values where odd is not null
),
-- a path into a VARIANT knows no escapes: a name that is no plain word is a tilde and the hexadecimal UTF-8 bytes of it
held as (
  select source, fieldlake_row, map_from_entries(collect_list(struct(
    case when name rlike r'\A[A-Za-z_][A-Za-z0-9_]*\z' then name else concat('~', lower(hex(encode(name, 'UTF-8')))) end, value))) as cells
  from members group by source, fieldlake_row
)
select concat(f.source, r.fieldlake_row) as id, f.uploaded_at, f.experiment_id, f.upload_id, f.contributor_id, f.table_id as upload_table_id,
  to_variant_object(coalesce(h.cells, cast(map() as map<string, variant>))) as uploaded_data
from (select distinct file_id, fieldlake_row from bronze_upload_records) r
  join silver_uploaded_files f on f.file_id = r.file_id and f.brings
  left join held h on h.source = f.source and h.fieldlake_row = r.fieldlake_row
