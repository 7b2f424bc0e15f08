-- Up Migration
-- What the pipelines on Databricks say of the tables there, as it was when it was last read back: rows, and a word that is another one after any change.

alter table lake_tables
  add column shared_row_count bigint check (shared_row_count >= 0),
  add column shared_state text,
  add column shared_read_at timestamptz;
