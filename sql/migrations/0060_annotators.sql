-- Up Migration
-- Who has annotated rows of an experiment: their names belong in its identity dimension. What they wrote is in the lake.

create table annotators (
  experiment_id uuid not null references experiments on delete cascade,
  user_id uuid not null references users on delete cascade,
  -- the dimension shows them: set once it has been written, so that a crash in between is made up for by their next annotation
  is_named boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (experiment_id, user_id)
);
create index annotators_by_user on annotators (user_id);

-- Order of the changes of an annotation.
create sequence annotation_changes;
