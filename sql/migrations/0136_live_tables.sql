-- Up Migration
-- Databricks reads the lake's own tables: what it said of tables of its own is asked for no more.
alter table lake_tables drop column shared_row_count, drop column shared_state, drop column shared_read_at;
drop index uploads_awaited;
alter table uploads drop column landed_at, drop column shared_at;
drop table shared_looks;
