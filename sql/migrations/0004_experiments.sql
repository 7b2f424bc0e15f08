-- Up Migration
-- Places of an experiment, and the erasure that follows its deletion.

create table locations (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  name text not null check (length(name) between 1 and 255),
  latitude numeric(10, 8) not null check (latitude between -90 and 90),
  longitude numeric(11, 8) not null check (longitude between -180 and 180),
  country text check (length(country) <= 100),
  region text check (length(region) <= 100),
  municipality text check (length(municipality) <= 100),
  postal_code text check (length(postal_code) <= 20),
  address_label text check (length(address_label) <= 1000),
  ordinal bigint generated always as identity,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index locations_by_experiment on locations (experiment_id, ordinal);

-- No reference to the experiment: it is gone when this row is made.
create table erasures (
  id uuid primary key,
  experiment_id uuid not null unique,
  requested_by uuid references users on delete set null,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed')),
  -- per store: rows and bytes that were removed
  report jsonb not null default '{}',
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
