-- Macros that run on measurements: which, what is still to do, and requests to run one again.

-- Macros that an experiment runs although its measurements do not name them.
create table experiment_macros (
  experiment_id uuid not null references experiments on delete cascade,
  macro_id uuid not null references macros on delete cascade,
  -- also on measurements that are to come
  runs_on_new boolean not null default false,
  allowed_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (experiment_id, macro_id)
);

create table macro_reprocesses (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  -- no reference: what a macro made outlives it
  macro_id uuid not null,
  -- of the macro when the request was made
  code_version integer not null,
  -- also where the measurement came with an output
  include_delivered boolean not null default false,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed')),
  total_rows bigint not null default 0,
  done_rows bigint not null default 0,
  failed_rows bigint not null default 0,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  -- over measurements that name the macro, or over all that match the filters
  scope text not null default 'naming' check (scope in ('naming', 'matching')),
  filters text
);
create unique index macro_reprocesses_open on macro_reprocesses (experiment_id, macro_id) where status <> 'completed';
create index macro_reprocesses_by_macro on macro_reprocesses (experiment_id, macro_id, created_at desc);

-- One piece of work: a macro, and measurements of one experiment to run it on. It goes in the transaction that stores the results.
create table macro_work (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  macro_id uuid not null,
  -- as the measurements said it; the macro's code is taken from this version
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
  created_at timestamptz not null default now(),
  -- who sent the measurements, or asked for the run: the macro runs if they may read it
  sender_id uuid references users on delete set null
);
create index macro_work_due on macro_work (experiment_id, next_at);
create index macro_work_by_reprocess on macro_work (reprocess_id) where reprocess_id is not null;
create index macro_work_sender on macro_work (sender_id);

-- Macros named by somebody who may not read them, which wait for a manager of the experiment.
create table withheld_macros (
  experiment_id uuid not null references experiments on delete cascade,
  macro_id uuid not null references macros on delete cascade,
  measurements bigint not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (experiment_id, macro_id)
);
create index withheld_macros_macro on withheld_macros (macro_id);
