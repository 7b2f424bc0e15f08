-- Up Migration
-- Devices with their certificates' life cycle, what they are bound to, groups, and the records of the embedded registry.

alter table devices
  add column thing_name text not null unique check (length(thing_name) between 1 and 128),
  add column thing_arn text not null,
  add column serial_number text not null check (length(serial_number) between 1 and 255),
  -- the name somebody gave; the resource's own name is this one or the serial
  add column given_name text check (length(given_name) between 1 and 255),
  add column device_type text not null check (device_type in ('multispeq', 'ambyte', 'minipar', 'generic', 'ambit', 'mobile')),
  -- phone: active without ever holding a certificate
  add column state text not null check (state in ('pending', 'active', 'rotating', 'revoked', 'phone')),
  add column certificate_id text unique,
  add column certificate_arn text,
  -- the running change of registry and row, with the step that is next; null when none runs
  add column sequence jsonb,
  add column sequence_at timestamptz,
  -- its policies must be written again: set by every change of its bindings, in the same transaction
  add column needs_rebind boolean not null default false,
  add constraint devices_serial_number unique (device_type, serial_number),
  add check ((device_type = 'mobile') = (state = 'phone')),
  add check ((certificate_id is null) = (certificate_arn is null));
create index devices_unfinished on devices (id) where sequence is not null;
create index devices_to_rebind on devices (id) where needs_rebind;

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

create table device_group_members (
  group_id uuid not null references device_groups on delete cascade,
  device_id uuid not null references devices on delete cascade,
  added_by uuid references users on delete set null,
  added_at timestamptz not null default now(),
  primary key (group_id, device_id)
);
create index device_group_members_by_device on device_group_members (device_id);

-- One record a thing, as the embedded registry keeps it: certificates with their status, policies, groups.
create table registry_things (
  thing_name text primary key,
  record jsonb not null
);
create index registry_things_certificates on registry_things using gin ((record -> 'certificates') jsonb_path_ops);
