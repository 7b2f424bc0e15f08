-- Up Migration
-- The flow of an experiment: the graph that a person walks through in the field. At most one.

create table flows (
  id uuid primary key,
  experiment_id uuid not null unique references experiments on delete cascade,
  graph jsonb not null,
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
