-- Up Migration
-- Messages that the broker has taken: durable here before they are acknowledged, turned into rows in small batches.

create table broker_messages (
  id bigint generated always as identity primary key,
  -- of experiment, client and bytes: the same again is the same measurement
  source bytea not null unique check (length(source) = 20),
  experiment_id uuid not null,
  client_id text not null,
  -- the person of temporary credentials; null for a device
  user_id uuid,
  sensor_type text not null,
  sensor_version text not null,
  sensor_id text not null,
  protocol_id text,
  payload bytea not null,
  received_at timestamptz not null,
  status text not null default 'waiting' check (status in ('waiting', 'stored', 'quarantined')),
  reason text
);
create index broker_messages_waiting on broker_messages (experiment_id, id) where status = 'waiting';
create index broker_messages_by_person on broker_messages (experiment_id, user_id) where user_id is not null;

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

-- One row of an experiment's device table: what a sensor has said of itself.
create table device_facts (
  experiment_id uuid not null references experiments on delete cascade,
  client_id text not null,
  device_id text not null,
  firmware text not null,
  device_name text,
  device_version text,
  device_battery double precision,
  total bigint not null,
  processed_at timestamptz not null,
  primary key (experiment_id, client_id, device_id, firmware)
);
create index message_hours_by_experiment on message_hours (experiment_id);
create index recent_measurements_by_experiment on recent_measurements (experiment_id);

create function forget_broker_messages() returns trigger language plpgsql as $$
begin
  delete from broker_messages where experiment_id = old.id;
  return null;
end $$;
create trigger experiments_forget_broker_messages after delete on experiments for each row execute function forget_broker_messages();
create index broker_messages_by_experiment on broker_messages (experiment_id);
create index broker_messages_archived on broker_messages (experiment_id) where status = 'quarantined' and reason = 'archived';
