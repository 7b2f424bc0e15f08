-- a serial number that is registered anew by another organization is another's device, which learns nothing of what the former one did

-- who had the device that was registered last under a name
create table former_devices (
  thing_name text primary key,
  organization_id uuid not null references organizations on delete cascade
);
create index former_devices_by_organization on former_devices (organization_id);

-- what arrived before was sent by a device of another organization
alter table devices add column begun_at timestamptz not null default '-infinity';

create function keep_former_device() returns trigger language plpgsql as $$
begin
  insert into former_devices (thing_name, organization_id) select thing_name, old.organization_id from devices where id = old.id
  on conflict (thing_name) do update set organization_id = excluded.organization_id;
  return old;
end $$;
-- before: afterwards the device is gone with its resource
create trigger devices_removed before delete on resources for each row when (old.type = 'device') execute function keep_former_device();

create function forget_former_device() returns trigger language plpgsql as $$
begin
  if not exists (select from former_devices f join resources r on r.organization_id = f.organization_id where f.thing_name = new.thing_name and r.id = new.id) then
    delete from message_hours where client_id = new.thing_name;
    delete from message_days where client_id = new.thing_name;
    delete from message_runs where client_id = new.thing_name;
    delete from recent_measurements where client_id = new.thing_name;
    delete from measuring_devices where client_id = new.thing_name;
    delete from presence_events where thing_name = new.thing_name;
    delete from device_presence where thing_name = new.thing_name;
    update devices set begun_at = now() where id = new.id;
  end if;
  delete from former_devices where thing_name = new.thing_name;
  return null;
end $$;
-- its name comes before devices_registered, which notes the experiments that know the device
create trigger devices_begun_anew after insert on devices for each row execute function forget_former_device();
