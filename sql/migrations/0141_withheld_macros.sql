-- Up Migration
-- Who sent what a macro is to run on, and asked for it to be run again: it runs if they may read it.
alter table macro_work add column sender_id uuid references users on delete set null;
-- Macros that were named by somebody who may not read them, and wait for a manager of the experiment.
create table withheld_macros (
  experiment_id uuid not null references experiments on delete cascade,
  macro_id uuid not null references macros on delete cascade,
  measurements bigint not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (experiment_id, macro_id)
);
create index withheld_macros_macro on withheld_macros (macro_id);
create index macro_work_sender on macro_work (sender_id);
