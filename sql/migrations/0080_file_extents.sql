-- Up Migration
-- What else a file's rows lie between, so that a page in the default order opens only the files that can hold it. Null in files of before: nothing is known.

alter table lake_files
  add column min_id text,
  add column max_id text,
  add column null_keys bigint check (null_keys between 0 and row_count);
