-- The lake's manifest: which immutable files make up which version of which table, with columns, sources and Delta log.

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
  -- null while the table has no log: it never had a file, or its files are older than logs are
  log_state jsonb,
  published_version bigint,
  -- the oldest version that the table's log still has an entry of; null when none was removed or there is no log
  log_from bigint,
  unique (experiment_id, identifier),
  check ((kind = 'upload') = (name is not null)),
  check (kind <> 'upload' or (name ~ '^[A-Za-z][A-Za-z0-9_]{0,62}$' and lower(name) not in ('raw_data', 'device'))),
  check (published_version <= version)
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
  -- of the row ids, and how many keys are null; a page in the default order opens only files that can hold it. Null: not known
  min_id text,
  max_id text,
  null_keys bigint,
  -- its rows in lake_file_values are written
  values_noted boolean not null default false,
  -- of its bytes when it was written, so that a copy can be checked; null in files that are older than this column
  sha256 bytea check (octet_length(sha256) = 32),
  check (to_version is null or to_version > from_version),
  check (null_keys between 0 and row_count)
);
create index lake_files_live on lake_files (table_id, min_key, max_key) where to_version is null;
create index lake_files_by_version on lake_files (table_id, from_version);
create index lake_files_retired on lake_files (retired_at) where to_version is not null;
create index lake_files_not_noted on lake_files (table_id, row_count) where to_version is null and not values_noted;

-- How many rows of a file have each value of a column with few values, so that a filter on it is counted without opening the file.
create table lake_file_values (
  file_id uuid not null references lake_files on delete cascade,
  name text not null,
  -- of the column when its values were counted: a column that has widened since reads other values
  type text not null,
  -- rows by the text of their value
  counts jsonb not null,
  nulls bigint not null check (nulls >= 0),
  primary key (file_id, name)
);

-- Between which values the columns of a file lie, so that a filter leaves out files that hold none of them: an engine takes 0.2 ms to open each.
create table lake_file_ranges (
  file_id uuid not null references lake_files on delete cascade,
  name text not null,
  -- the physical type in the file: a column that has widened since reads other numbers
  stored_as text not null check (stored_as in ('int32', 'int64', 'double')),
  -- times in microseconds since 1970, dates in days since then; null where the column has no value
  low double precision,
  high double precision,
  nulls bigint not null check (nulls >= 0),
  primary key (file_id, name),
  check ((low is null) = (high is null))
);

-- The columns of every table. A column that widens closes one row (until_version) and opens another.
create table lake_columns (
  table_id uuid not null references lake_tables on delete cascade,
  name text not null check (length(name) between 1 and 255),
  -- as Databricks writes types: DOUBLE, DECIMAL(10,2), STRUCT<...>
  type text not null,
  origin text not null check (origin in ('base', 'question', 'output', 'uploaded', 'metadata')),
  original_key text,
  nullable boolean not null default true,
  hidden boolean not null default false,
  -- false while every stored value is null: the column is in no file yet and may still take any type
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

-- What has been stored: one source gives one set of rows in a table, however often it is sent.
-- No reference: sources are claimed by the thousand under the lock of their table, and a look at it for each would double that work.
create table lake_sources (
  table_id uuid not null,
  source bytea not null check (length(source) = 10),
  version bigint not null,
  row_count bigint not null,
  quarantined_count bigint not null default 0,
  committed_at timestamptz not null default now(),
  -- the message or upload that it came in
  origin uuid,
  -- of the definitions that made its rows
  pipeline_version text,
  primary key (table_id, source)
);

create function forget_lake_sources() returns trigger language plpgsql as $$
begin
  delete from lake_sources where table_id in (select id from gone);
  return null;
end $$;
create trigger lake_tables_sources after delete on lake_tables referencing old table as gone for each statement execute function forget_lake_sources();

-- Entries of the tables' Delta logs, one for each version. Their bytes are fixed in the transaction that makes the version, so that whoever
-- publishes them, and however often, writes the same.
create table lake_log (
  table_id uuid not null references lake_tables on delete cascade,
  version bigint not null,
  entry text not null,
  -- what the log says of the table's columns after this version; where it is given, a checkpoint follows the entry
  state jsonb,
  created_at timestamptz not null default now(),
  primary key (table_id, version)
);

-- Where the lake of this database lies: `folder`, or `s3://` and the name of a bucket. One row, since the first start.
create table lake_place (
  is_only boolean primary key default true check (is_only),
  place text not null check (place = 'folder' or place like 's3://%'),
  noted_at timestamptz not null default now()
);
