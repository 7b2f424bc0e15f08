-- Devices with their certificates, groups and presence, the authority that signs, the embedded registry, and releases of firmware.

create table devices (
  id uuid primary key,
  type text not null default 'device' check (type = 'device'),
  thing_name text not null unique check (length(thing_name) between 1 and 128),
  thing_arn text not null,
  serial_number text not null check (length(serial_number) between 1 and 255),
  -- the name that somebody gave it; the resource's name is this one or else the serial number
  given_name text check (length(given_name) between 1 and 255),
  device_type text not null check (device_type in ('multispeq', 'ambyte', 'minipar', 'generic', 'ambit', 'mobile')),
  -- phone: active without a certificate
  state text not null check (state in ('pending', 'active', 'rotating', 'revoked', 'phone')),
  certificate_id text unique,
  certificate_arn text,
  -- the running change of registry and row, with the step that comes next; null when none runs
  sequence jsonb,
  sequence_at timestamptz,
  -- its policies must be written again: every change of what it is bound to sets this in the same transaction
  needs_rebind boolean not null default false,
  constraint devices_serial_number unique (device_type, serial_number),
  check ((device_type = 'mobile') = (state = 'phone')),
  check ((certificate_id is null) = (certificate_arn is null)),
  foreign key (id, type) references resources (id, type) on delete cascade
);
create index devices_unfinished on devices (id) where sequence is not null;
create index devices_to_rebind on devices (id) where needs_rebind;

-- Devices that may send to an experiment.
create table experiment_devices (
  experiment_id uuid not null references experiments on delete cascade,
  device_id uuid not null references devices on delete cascade,
  added_by uuid references users on delete set null,
  added_at timestamptz not null default now(),
  primary key (experiment_id, device_id)
);
create index experiment_devices_by_device on experiment_devices (device_id, added_at desc);

create function mark_rebind() returns trigger language plpgsql as $$
begin
  update devices set needs_rebind = true where id in (select device_id from changed) and not needs_rebind;
  return null;
end $$;
create trigger experiment_devices_bound after insert on experiment_devices
  referencing new table as changed for each statement execute function mark_rebind();
create trigger experiment_devices_unbound after delete on experiment_devices
  referencing old table as changed for each statement execute function mark_rebind();

create table device_groups (
  id uuid primary key,
  type text not null default 'device_group' check (type = 'device_group'),
  foreign key (id, type) references resources (id, type) on delete cascade
);

create table device_group_members (
  group_id uuid not null references device_groups on delete cascade,
  device_id uuid not null references devices on delete cascade,
  added_by uuid references users on delete set null,
  added_at timestamptz not null default now(),
  primary key (group_id, device_id)
);
create index device_group_members_by_device on device_group_members (device_id);

-- The installation's own certificate authority, key and certificate sealed with its secret, so that it outlives every machine. One row at most.
create table authority (
  is_only boolean primary key default true check (is_only),
  sealed text not null,
  made_at timestamptz not null default now()
);

-- The embedded registry: one record for each thing, with its certificates and their status, policies and groups.
create table registry_things (
  thing_name text primary key,
  record jsonb not null
);
create index registry_things_certificates on registry_things using gin ((record -> 'certificates') jsonb_path_ops);

-- What became of certificates that the embedded registry holds no more, so that a refusal can say it.
create table ended_certificates (
  certificate_id text primary key,
  reason text not null check (reason in ('rotated', 'revoked', 'removed')),
  ended_at timestamptz not null default now()
);

-- Whether a device is connected, as the broker last said.
create table device_presence (
  thing_name text primary key,
  connected boolean not null,
  session text,
  -- the broker that said so
  broker text not null,
  last_seen_at timestamptz not null
);
create index device_presence_live on device_presence (broker) where connected;

create table presence_events (
  id uuid primary key,
  thing_name text not null,
  event_type text not null check (event_type in ('connected', 'disconnected')),
  at timestamptz not null,
  disconnect_reason text,
  session text,
  -- the order in which events of one instant were told
  ordinal bigint generated always as identity
);
create index presence_events_by_thing on presence_events (thing_name, at desc, ordinal desc);

-- When a broker was last known to run: connections that it had not ended by then ended with it.
create table brokers (
  name text primary key,
  alive_at timestamptz not null
);

-- Releases of firmware as GitHub last told them, by repository; shared by all processes.
create table firmware_releases (
  repository text primary key,
  etag text,
  releases jsonb not null,
  fetched_at timestamptz not null,
  -- after a failure nothing is asked until then
  retry_at timestamptz not null default '-infinity'
);
