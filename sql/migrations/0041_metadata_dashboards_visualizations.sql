-- Up Migration
-- What else belongs to an experiment: metadata records, charts and dashboards.

create table metadata_records (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  metadata jsonb not null,
  -- characters of the metadata as it was sent
  size integer not null,
  version bigint not null default 1,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index metadata_records_by_experiment on metadata_records (experiment_id, created_at desc, id desc);

create table visualizations (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  chart_family text not null,
  chart_type text not null,
  config jsonb not null default '{}',
  data_config jsonb not null,
  version bigint not null default 1,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index visualizations_by_experiment on visualizations (experiment_id, created_at desc, id desc);

create table dashboards (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  layout jsonb not null,
  widgets jsonb not null default '[]',
  version bigint not null default 1,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index dashboards_by_experiment on dashboards (experiment_id, created_at desc, id desc);
