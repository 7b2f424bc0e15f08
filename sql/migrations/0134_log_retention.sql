-- Up Migration
-- The oldest version that a table's log still has an entry of; null where none was removed or the log has none.
alter table lake_tables add column log_from bigint;
