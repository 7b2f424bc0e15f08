-- Up Migration
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
-- Over which measurements a macro is run: those that name it, or all that match.
alter table macro_reprocesses
  add column scope text not null default 'naming' check (scope in ('naming', 'matching')),
  add column filters text;
