-- Up Migration
-- Uploads: what was sent, what became of every file and every row.

create table uploads (
  id uuid primary key,
  -- no reference, as in lake_tables: the erasure job removes what a deleted experiment leaves
  experiment_id uuid not null,
  -- null once a table that was made for an upload that never arrived is taken back
  table_id uuid references lake_tables on delete set null,
  source_kind text not null check (source_kind in ('ambyte', 'csv', 'tsv', 'parquet', 'json', 'ndjson')),
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'partial', 'failed')),
  file_count integer not null default 0 check (file_count >= 0),
  rows_in bigint not null default 0,
  stored bigint not null default 0,
  quarantined bigint not null default 0,
  already_there bigint not null default 0,
  error_message text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  -- every file is here; until then the upload belongs to the request that receives it
  received_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  -- of the process that receives or ingests it; an old one means that the process is gone
  heartbeat_at timestamptz not null default now(),
  check (rows_in = stored + quarantined + already_there),
  check ((completed_at is not null) = (status in ('completed', 'partial', 'failed')))
);
create index uploads_by_experiment on uploads (experiment_id, created_at desc, id desc);
create index uploads_by_table on uploads (table_id, created_at desc);
create index uploads_unfinished on uploads (heartbeat_at) where status in ('pending', 'running');

create table upload_files (
  upload_id uuid not null references uploads on delete cascade,
  -- as the sender named it, after the path rules of its kind
  path text not null check (length(path) between 1 and 256),
  ordinal integer not null,
  object_key text,
  sha256 bytea check (length(sha256) = 32),
  byte_count bigint check (byte_count >= 0),
  status text not null default 'pending' check (status in ('pending', 'completed', 'partial', 'failed')),
  rows_in bigint not null default 0,
  stored bigint not null default 0,
  quarantined bigint not null default 0,
  already_there bigint not null default 0,
  -- stable word for why nothing was stored, and the sentence a person reads
  reason text,
  message text,
  -- [{ name, originalKey, type, nulls, oddValues, ... }]
  columns jsonb not null default '[]',
  completed_at timestamptz,
  primary key (upload_id, path),
  unique (upload_id, ordinal),
  check (rows_in = stored + quarantined + already_there)
);
create index upload_files_by_object on upload_files (object_key);
