-- Up Migration
-- What the broker's devices are watched by: sums that are written with the rows themselves.

-- What has been measured, an hour of a device and experiment at a time; written with the rows themselves.
create table message_hours (
  client_id text not null,
  experiment_id uuid not null references experiments on delete cascade,
  hour timestamptz not null,
  -- '' stands for none
  version text not null,
  protocol_id text not null,
  workbook_version_id text not null,
  macros text not null,
  count bigint not null,
  with_gps bigint not null,
  with_battery bigint not null,
  battery_sum double precision not null,
  battery_count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (client_id, hour, experiment_id, version, protocol_id, workbook_version_id, macros)
);

-- Distinct runs of workbooks by device.
create table message_runs (
  client_id text not null,
  run_id text not null,
  hour timestamptz not null,
  primary key (client_id, run_id, hour)
);

-- The newest measurements of a device, kept for monitoring.
create table recent_measurements (
  client_id text not null,
  id text not null,
  experiment_id uuid not null references experiments on delete cascade,
  at timestamptz not null,
  protocol_id text,
  workbook_version_id text,
  version text,
  battery double precision,
  latitude double precision,
  longitude double precision,
  sample text,
  primary key (client_id, at, id)
);

create index message_hours_by_experiment on message_hours (experiment_id);
create index recent_measurements_by_experiment on recent_measurements (experiment_id);
