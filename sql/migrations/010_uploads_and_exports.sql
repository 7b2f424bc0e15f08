-- Files that come in and go out, changes of uploaded columns, and who has annotated rows.

create table uploads (
  id uuid primary key,
  -- no reference, as in lake_tables: the erasure job removes what a deleted experiment leaves
  experiment_id uuid not null,
  -- null once a table that was made for an upload that never arrived has been taken back
  table_id uuid references lake_tables on delete set null,
  source_kind text not null check (source_kind in ('ambyte', 'csv', 'tsv', 'xlsx', 'parquet', 'json', 'ndjson')),
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'partial', 'failed')),
  file_count integer not null default 0 check (file_count >= 0),
  rows_in bigint not null default 0,
  stored bigint not null default 0,
  quarantined bigint not null default 0,
  already_there bigint not null default 0,
  error_message text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  -- every file has arrived; until then the upload belongs to the request that receives it
  received_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  -- of the process that receives or ingests it; an old one means that the process is gone
  heartbeat_at timestamptz not null default now(),
  -- how the sender wants its files read: missing, decimal, dateOrder, types, sheet
  reading jsonb not null default '{}',
  check (rows_in = stored + quarantined + already_there),
  check ((completed_at is not null) = (status in ('completed', 'partial', 'failed')))
);
create index uploads_by_experiment on uploads (experiment_id, created_at desc, id desc);
create index uploads_by_table on uploads (table_id, created_at desc);
create index uploads_by_creator on uploads (created_by);
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
  -- stable word for why nothing was stored, and the sentence that a person reads
  reason text,
  message text,
  -- [{ name, originalKey, type, nulls, oddValues, ... }]
  columns jsonb not null default '[]',
  completed_at timestamptz,
  -- since when its refused records wait to be read again from the bytes that were sent; null: they do not
  replay_requested_at timestamptz,
  primary key (upload_id, path),
  unique (upload_id, ordinal),
  check (rows_in = stored + quarantined + already_there)
);
create index upload_files_by_object on upload_files (object_key);

-- Changes of the name or type of an upload table's column: what was asked, how far it is, and what became of the values.
create table column_changes (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  table_id uuid not null references lake_tables on delete cascade,
  -- what the column was called when it was asked
  column_name text not null,
  -- null: it keeps its name
  new_name text,
  -- null: it keeps its type
  new_type text,
  -- decimal and dateOrder, where the request said them
  reading jsonb not null default '{}',
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed')),
  total_rows bigint not null default 0,
  done_rows bigint not null default 0,
  -- how often it was begun
  tries integer not null default 0,
  report jsonb,
  error_message text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
create unique index column_changes_open on column_changes (table_id) where status in ('queued', 'running');
create index column_changes_by_table on column_changes (table_id, created_at desc);
create index column_changes_by_experiment on column_changes (experiment_id);
create index column_changes_by_author on column_changes (created_by);

-- A table, or an answer of it, written to a file once and kept for download for a while.
create table exports (
  id uuid primary key,
  -- no reference, as in lake_tables: the erasure job removes what a deleted experiment leaves
  experiment_id uuid not null,
  -- the table as the manifest knows it, the name by which it was asked for, and the version whose rows are written
  table_identifier text not null,
  table_name text not null,
  table_version bigint not null,
  format text not null check (format in ('csv', 'ndjson', 'json', 'parquet', 'arrow', 'xlsx')),
  -- columns, filters, aggregation, order and limit, as a read takes them
  query jsonb not null default '{}',
  raw boolean not null default false,
  -- whose names the file holds; 'real_by_manager' was asked for by a manager, and stays when the experiment is anonymised
  names text not null check (names in ('pseudonyms', 'real', 'real_by_manager')),
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  reason text,
  -- each attempt writes an object of its own; an attempt that a later one has overtaken cannot complete
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
  -- while its rows are being sorted nothing is written yet, and this moves all the same
  percent_done double precision not null default 0 check (percent_done between 0 and 100),
  check ((status = 'completed') = (object_key is not null and file_size is not null)),
  check ((completed_at is not null) = (status in ('completed', 'failed', 'cancelled')))
);
create index exports_by_table on exports (experiment_id, table_identifier, created_at desc, id desc);
create index exports_by_creator on exports (created_by, created_at) where status in ('queued', 'running');
create index exports_unfinished on exports (queued_at) where status in ('queued', 'running');
create index exports_expiring on exports (expires_at) where status = 'completed' and expired_at is null;

-- Who has annotated rows of an experiment: the identity dimension needs their names. What they wrote is in the lake.
create table annotators (
  experiment_id uuid not null references experiments on delete cascade,
  user_id uuid not null references users on delete cascade,
  -- the dimension shows them; set after it was written, so that their next annotation makes up for a crash in between
  is_named boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (experiment_id, user_id)
);
create index annotators_by_user on annotators (user_id);

-- The order of changes of an annotation.
create sequence annotation_changes;
