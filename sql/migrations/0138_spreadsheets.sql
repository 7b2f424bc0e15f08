-- Up Migration
-- XLSX workbooks come in; `reading` says of which sheet.
alter table uploads drop constraint uploads_source_kind_check,
  add constraint uploads_source_kind_check check (source_kind in ('ambyte', 'csv', 'tsv', 'xlsx', 'parquet', 'json', 'ndjson'));
