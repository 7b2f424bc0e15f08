-- grain: one uploaded file: what became of its records
-- key: file_id
-- from: bronze_upload_records, silver_uploaded_files, silver_uploaded_columns, silver_uploaded_values, quarantine
with stored as (
  select f.source, count(*) as stored
  from (select distinct file_id, fieldlake_row from bronze_upload_records) r join silver_uploaded_files f on f.file_id = r.file_id and f.brings
  group by f.source
),
refused as (
  select left(id, 20) as source, reason, count(*) as records, min(fieldlake_row) as first_row from quarantine group by left(id, 20), reason
),
reasons as (
  select source, sum(records) as quarantined, array_sort(collect_list(struct(first_row, reason, records))) as found from refused group by source
),
odd as (
  select source, name, count(*) as odd_values from silver_uploaded_values where odd is not null group by source, name
),
columns as (
  select c.source, to_json(transform(array_sort(collect_list(struct(
      c.position, c.name, c.key as originalKey, c.type, c.widened_from as widenedFrom, coalesce(o.odd_values, 0) as oddValues))),
    x -> struct(x.name, x.originalKey, x.type, x.widenedFrom, x.oddValues))) as columns
  from silver_uploaded_columns c left join odd o on o.source = c.source and o.name = c.name group by c.source
)
select f.file_id, f.experiment_id, f.table_id, f.upload_id, f.source_kind, f.contributor_id, f.path, f.ordinal, f.uploaded_at,
  case when f.reason is not null then 'failed' when not f.brings or q.source is null then 'completed' when s.source is null then 'failed' else 'partial' end as status,
  case when f.brings then coalesce(s.stored, 0) else 0 end as stored,
  case when f.brings then coalesce(q.quarantined, 0) else 0 end as quarantined,
  case when f.brings or f.reason is not null then 0 else coalesce(s.stored, 0) + coalesce(q.quarantined, 0) end as already_there,
  coalesce(f.reason, case when f.brings then array_join(transform(q.found, x -> x.reason), ', ') end) as reason,
  coalesce(f.message, case when f.reason is not null then null when not f.brings then 'This file is in the table already.'
    when q.source is not null then concat('Not stored: ', array_join(transform(q.found, x -> concat(x.records, ' × ', replace(x.reason, '_', ' '))), ', '), '.') end) as message,
  case when f.brings then coalesce(c.columns, '[]') else '[]' end as columns
from silver_uploaded_files f
  left join stored s on s.source = f.source and f.reason is null
  left join reasons q on q.source = f.source and f.reason is null
  left join columns c on c.source = f.source and f.brings
