-- Up Migration
-- XLSX workbooks come in, `reading` says of which sheet, and go out.
alter table uploads drop constraint uploads_source_kind_check,
  add constraint uploads_source_kind_check check (source_kind in ('ambyte', 'csv', 'tsv', 'xlsx', 'parquet', 'json', 'ndjson'));
alter table exports drop constraint exports_format_check,
  add constraint exports_format_check check (format in ('csv', 'ndjson', 'json', 'parquet', 'arrow', 'xlsx'));
