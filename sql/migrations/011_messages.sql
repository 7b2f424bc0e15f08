-- Messages with measurements, and the sums by which devices are monitored.

-- Every message that was acknowledged, kept as it came until it is rows, and after that for replay. Nearly every row is written once, so
-- status and stored have the values that it ends with; what is still to be done stands in pending_messages. The view `messages`
-- (sql/views) joins the two.
create table messages (
  id uuid constraint inbox_pkey primary key,
  -- the order of arrival
  ordinal bigint generated always as identity,
  -- no reference: a message may name an experiment that does not exist, and the erasure job removes what a deleted one leaves
  experiment_id uuid not null,
  -- 10 bytes of SHA-256 over experiment, sender and body: the same bytes from one sender are one message
  source bytea not null check (length(source) = 10),
  -- the proven sender: a certificate's client id, or a person
  client_id text,
  user_id uuid,
  -- from the topic; beats what the payload says
  protocol_id text,
  arrived_at timestamptz not null default now(),
  byte_count integer not null check (byte_count >= 0),
  -- the bytes as they came: here, or in the object store
  body bytea,
  object_key text,
  status text not null default 'stored' constraint inbox_status_check check (status in ('stored', 'partial', 'quarantined')),
  stored bigint not null default 1,
  quarantined bigint not null default 0,
  already_there bigint not null default 0,
  -- why measurements of it were not stored: { reason: count }
  reasons jsonb not null default '{}',
  handled_at timestamptz,
  unique (experiment_id, source),
  check (num_nonnulls(body, object_key) = 1)
);
-- `messages` is the name of the view; constraints and sequence keep it
alter table messages rename to inbox;
create index inbox_set_aside on inbox (experiment_id, handled_at) where status <> 'stored';

-- Messages that are to become rows, in the order in which they are taken. A narrow row goes when its message is done.
create table pending_messages (
  experiment_id uuid not null,
  -- of the inbox
  ordinal bigint not null,
  message_id uuid not null,
  byte_count integer not null,
  -- was handled before, and set aside
  again boolean not null default false,
  primary key (experiment_id, ordinal)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- A try is of a batch of messages: one row covers all of them.
create table message_tries (
  id bigint generated always as identity primary key,
  experiment_id uuid not null,
  -- places in the order of arrival, both tried
  first_ordinal bigint not null,
  last_ordinal bigint not null
);
create index message_tries_by_experiment on message_tries (experiment_id);

-- People whose measurements an experiment holds: its identity dimension needs their names.
create table contributors (
  experiment_id uuid not null,
  user_id uuid not null references users on delete cascade,
  primary key (experiment_id, user_id)
);
create index contributors_by_user on contributors (user_id);

-- What was measured in an hour, by device, experiment and what made it; written in the transaction that stores the rows.
create table message_hours (
  client_id text not null,
  experiment_id uuid not null references experiments on delete cascade,
  hour timestamptz not null,
  -- '' stands for none in these four
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
  id bigint generated always as identity unique,
  primary key (client_id, hour, experiment_id, version, protocol_id, workbook_version_id, macros)
);
create index message_hours_by_experiment on message_hours (experiment_id);

-- Every measurement of a sum, for hours that a range cuts. A trigger removes it with its sum: a foreign key would lock the sum for each row.
create table message_instants (
  -- of message_hours
  hour_id bigint not null,
  at timestamptz not null,
  gps boolean not null,
  battery double precision,
  run_id text
);
create index message_instants_by_hour on message_instants (hour_id, at);

create function forget_instants() returns trigger language plpgsql as $$
begin
  delete from message_instants i using forgotten f where i.hour_id = f.id;
  return null;
end $$;
create trigger message_hours_forgotten after delete on message_hours
  referencing old table as forgotten for each statement execute function forget_instants();

-- Sums by day, for whole fleets.
create table message_days (
  client_id text not null,
  -- its start, UTC
  day timestamptz not null,
  experiment_id uuid not null references experiments on delete cascade,
  count bigint not null,
  primary key (client_id, day, experiment_id)
);
create index message_days_by_experiment on message_days (experiment_id);

-- Distinct runs of workbooks, by device and hour.
create table message_runs (
  client_id text not null,
  run_id text not null,
  hour timestamptz not null,
  -- null in runs that are older than this column
  experiment_id uuid references experiments on delete cascade
);
create unique index message_runs_once on message_runs (client_id, hour, run_id, experiment_id) nulls not distinct;
create index message_runs_by_experiment on message_runs (experiment_id);

-- The newest measurements of a device.
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
create index recent_measurements_by_experiment on recent_measurements (experiment_id);

-- Devices that have measured for an experiment.
create table measuring_devices (
  experiment_id uuid not null references experiments on delete cascade,
  -- thing name, as the broker proved it
  client_id text not null,
  primary key (experiment_id, client_id)
);
create index measuring_devices_by_client on measuring_devices (client_id);

-- Experiments whose device dimension in the lake is out of date.
create table registry_changes (
  experiment_id uuid primary key references experiments on delete cascade,
  changed_at timestamptz not null default now()
);

create function note_measuring_devices() returns trigger language plpgsql as $$
begin
  with added as (
    insert into measuring_devices (experiment_id, client_id) select distinct experiment_id, client_id from counted order by 1, 2
    on conflict do nothing returning experiment_id
  )
  insert into registry_changes (experiment_id) select distinct experiment_id from added order by 1
  on conflict (experiment_id) do update set changed_at = clock_timestamp();
  return null;
end $$;
create trigger message_hours_counted after insert on message_hours
  referencing new table as counted for each statement execute function note_measuring_devices();

create function note_registry_change() returns trigger language plpgsql as $$
begin
  insert into registry_changes (experiment_id)
  select m.experiment_id from measuring_devices m join experiments e on e.id = m.experiment_id
  where m.client_id = coalesce(new.thing_name, old.thing_name) order by 1
  on conflict (experiment_id) do update set changed_at = clock_timestamp();
  return null;
end $$;
create trigger devices_registered after insert or delete on devices for each row execute function note_registry_change();
create trigger devices_changed after update of state on devices for each row
  when (old.state is distinct from new.state) execute function note_registry_change();
