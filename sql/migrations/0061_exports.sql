-- Up Migration
-- Exports: a table, or an answer of it, written to a file once and downloaded for a while.

create table exports (
  id uuid primary key,
  -- no reference, as in lake_tables: the erasure job removes what a deleted experiment leaves
  experiment_id uuid not null,
  -- the table as the manifest knows it, the name by which it was asked for, and the version whose rows are written
  table_identifier text not null,
  table_name text not null,
  table_version bigint not null,
  format text not null check (format in ('csv', 'ndjson', 'json', 'parquet', 'arrow')),
  -- columns, filters, aggregation, order and limit, as a read takes them
  query jsonb not null default '{}',
  raw boolean not null default false,
  -- whose names the file holds: 'real_by_manager' was asked for by someone who manages, and stays when the experiment is anonymised
  names text not null check (names in ('pseudonyms', 'real', 'real_by_manager')),
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  reason text,
  -- each attempt writes an object of its own; an attempt that has been overtaken cannot complete
  attempt integer not null default 0,
  errors integer not null default 0,
  object_key text,
  sha256 bytea check (length(sha256) = 32),
  file_name text,
  row_count bigint,
  file_size bigint,
  rows_done bigint not null default 0,
  bytes_done bigint not null default 0,
  rows_total bigint,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  heartbeat_at timestamptz not null default now(),
  -- when the job was last put into the queue
  queued_at timestamptz not null default now(),
  expires_at timestamptz,
  expired_at timestamptz,
  check ((status = 'completed') = (object_key is not null and file_size is not null)),
  check ((completed_at is not null) = (status in ('completed', 'failed', 'cancelled')))
);
create index exports_by_table on exports (experiment_id, table_identifier, created_at desc, id desc);
create index exports_by_creator on exports (created_by, created_at) where status in ('queued', 'running');
create index exports_unfinished on exports (queued_at) where status in ('queued', 'running');
create index exports_expiring on exports (expires_at) where status = 'completed' and expired_at is null;
