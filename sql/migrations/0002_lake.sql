-- Up Migration
-- The lake manifest: which immutable files make up which version of which table, and the column catalogue.

create table lake_tables (
  id uuid primary key,
  -- no reference: the files of a deleted experiment stay listed here until the erasure job has removed them
  experiment_id uuid not null,
  kind text not null check (kind in ('raw_data', 'device', 'macro', 'upload', 'identity', 'annotation', 'metadata_record', 'registry', 'quarantine')),
  -- raw_data, device, a macro's id, an upload table's id (= id), or the kind's own name for internal tables
  identifier text not null,
  name text,
  version bigint not null default 0,
  row_count bigint not null default 0 check (row_count >= 0),
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (experiment_id, identifier),
  check ((kind = 'upload') = (name is not null)),
  check (kind <> 'upload' or (name ~ '^[A-Za-z][A-Za-z0-9_]{0,62}$' and lower(name) not in ('raw_data', 'device')))
);
create unique index lake_tables_upload_name on lake_tables (experiment_id, lower(name)) where kind = 'upload';

-- Every version that is still kept, with what a read of it needs.
create table lake_versions (
  table_id uuid not null references lake_tables on delete cascade,
  version bigint not null,
  row_count bigint not null,
  -- 'ingest' | 'compact' | 'erase' | 'replace': compaction changes files, never rows
  cause text not null,
  committed_at timestamptz not null default now(),
  primary key (table_id, version)
);

create table lake_files (
  id uuid primary key,
  table_id uuid not null references lake_tables on delete cascade,
  -- relative to the lake folder
  path text not null unique,
  row_count bigint not null check (row_count > 0),
  byte_count bigint not null check (byte_count > 0),
  -- of the table's default sort column; null when every value is null
  min_key timestamptz,
  max_key timestamptz,
  from_version bigint not null,
  to_version bigint,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  check (to_version is null or to_version > from_version)
);
create index lake_files_live on lake_files (table_id, min_key, max_key) where to_version is null;
create index lake_files_by_version on lake_files (table_id, from_version);
create index lake_files_retired on lake_files (retired_at) where to_version is not null;

-- The column catalogue. A widened column closes one row (until_version) and opens another.
create table lake_columns (
  table_id uuid not null references lake_tables on delete cascade,
  name text not null check (length(name) between 1 and 255),
  -- Databricks type text: DOUBLE, DECIMAL(10,2), STRUCT<...>
  type text not null,
  origin text not null check (origin in ('base', 'question', 'output', 'uploaded', 'metadata')),
  original_key text,
  nullable boolean not null default true,
  hidden boolean not null default false,
  -- false while every stored value is null: such a column is in no file yet and may still take any type
  has_values boolean not null default true,
  -- every stored value of a BIGINT column is within 2^53, so the column may still widen to DOUBLE
  exact_double boolean not null default true,
  ordinal integer not null,
  since_version bigint not null,
  until_version bigint,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  primary key (table_id, name, since_version)
);
create unique index lake_columns_live on lake_columns (table_id, lower(name)) where until_version is null;

-- What has been committed: one source is one row set per table, whatever is retried or delivered again.
create table lake_sources (
  table_id uuid not null references lake_tables on delete cascade,
  source bytea not null check (length(source) = 10),
  version bigint not null,
  row_count bigint not null,
  quarantined_count bigint not null default 0,
  committed_at timestamptz not null default now(),
  primary key (table_id, source)
);
