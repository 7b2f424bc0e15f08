-- Up Migration
-- A look at the tables on Databricks wakes a warehouse that costs money: what is waited for there, and when it was last looked for.

alter table uploads
  -- its files were last written for the pipeline on Databricks
  add column landed_at timestamptz,
  -- the pipeline has said what became of every file that was written then
  add column shared_at timestamptz;
create index uploads_awaited on uploads (landed_at) where landed_at is not null and shared_at is null;

-- at most one row; none: a look is asked for
create table shared_looks (
  is_only boolean primary key default true check (is_only),
  looked_at timestamptz not null
);
