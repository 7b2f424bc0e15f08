-- Up Migration
-- Changes of an upload table's columns after the fact: what was asked, how far it is, and what became of the values.
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
