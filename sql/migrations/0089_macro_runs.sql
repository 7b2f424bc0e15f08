-- Up Migration
-- Macros that are still to run on stored measurements, requests to run one anew, and where stored rows came from.

-- The message or upload that a source came in, and the pipeline definitions that made its rows.
alter table lake_sources add column origin uuid, add column pipeline_version text;
create index lake_sources_by_origin on lake_sources (origin) where origin is not null;

create table macro_reprocesses (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  -- no reference: what a macro made outlives it
  macro_id uuid not null,
  -- of the macro when the request was made
  code_version integer not null,
  -- also where the measurement brought an output along
  include_delivered boolean not null default false,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed')),
  total_rows bigint not null default 0,
  done_rows bigint not null default 0,
  failed_rows bigint not null default 0,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
create unique index macro_reprocesses_open on macro_reprocesses (experiment_id, macro_id) where status <> 'completed';
create index macro_reprocesses_by_macro on macro_reprocesses (experiment_id, macro_id, created_at desc);

-- One piece of work: a macro, and measurements of one experiment that it is to run on. Gone in the transaction that stores its results.
create table macro_work (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  macro_id uuid not null,
  -- as the measurements said it; the code is the one that this version keeps
  workbook_version_id text,
  reprocess_id uuid references macro_reprocesses on delete cascade,
  row_ids text[] not null check (cardinality(row_ids) > 0),
  -- of the measurements' times
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- how often it was begun
  tries integer not null default 0,
  -- not before this time; a worker that has it keeps moving it ahead
  next_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index macro_work_due on macro_work (experiment_id, next_at);
create index macro_work_by_reprocess on macro_work (reprocess_id) where reprocess_id is not null;
