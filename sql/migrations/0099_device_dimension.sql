-- Up Migration
-- Which devices have measured for an experiment, and which experiments' lake has yet to be told of a change of theirs.

create table measuring_devices (
  experiment_id uuid not null references experiments on delete cascade,
  -- thing name, as the broker proved it
  client_id text not null,
  primary key (experiment_id, client_id)
);
create index measuring_devices_by_client on measuring_devices (client_id);

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

insert into measuring_devices (experiment_id, client_id) select distinct experiment_id, client_id from message_hours;
insert into registry_changes (experiment_id) select distinct experiment_id from measuring_devices;
