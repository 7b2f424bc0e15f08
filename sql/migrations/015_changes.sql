-- What happened in experiments lately, for those who listen: written by triggers, in the transaction of what it tells, and kept for a day.
-- Readers go by (xid, n) and stop at the oldest transaction that still runs, so that what commits later never comes before what they have read.

create table changes (
  xid xid8 not null default pg_current_xact_id(),
  n bigint generated always as identity,
  experiment_id uuid not null,
  kind text not null check (kind in ('table', 'upload', 'export', 'macroRun', 'device')),
  -- who is told: whoever may take this action on the experiment, `related` is a reader by more than its being public, `device` reads the device as well
  audience text not null check (audience in ('read', 'contribute', 'manage', 'related', 'device')),
  data jsonb not null,
  at timestamptz not null default now(),
  primary key (experiment_id, xid, n)
);
create index changes_by_age on changes (at);

-- Names the course of this database's transactions. Postgres empties the table when it recovers from a crash, since transactions that it lost give their numbers
-- to others, and a restored database has none: whoever comes with another name reads anew.
create unlogged table change_epoch (
  one boolean primary key default true check (one),
  epoch text not null default left(md5(gen_random_uuid()::text), 8)
);

-- What rows of a table of a kind need.
create function table_action(kind text) returns text language sql immutable parallel safe
  return case when kind in ('raw_data', 'upload') then 'contribute' else 'read' end;

-- Of an experiment that is gone nothing is told.
create function note_change(experiment uuid, kind text, audience text, data jsonb) returns void language sql as $$
  insert into changes (experiment_id, kind, audience, data) select e.id, kind, audience, data from experiments e where e.id = experiment
$$;

create function note_table_change() returns trigger language plpgsql as $$
begin
  perform note_change(coalesce(new.experiment_id, old.experiment_id), 'table', table_action(coalesce(new.kind, old.kind)),
    jsonb_build_object('identifier', coalesce(new.identifier, old.identifier), 'version', new.version, 'totalRows', new.row_count));
  return null;
end $$;
create trigger lake_tables_changed after update of version on lake_tables for each row
  when (old.version is distinct from new.version and new.kind in ('raw_data', 'device', 'macro', 'upload')) execute function note_table_change();
create trigger lake_tables_removed after delete on lake_tables for each row
  when (old.kind in ('raw_data', 'device', 'macro', 'upload')) execute function note_table_change();

create function note_withheld_macro() returns trigger language plpgsql as $$
begin
  perform note_change(coalesce(new.experiment_id, old.experiment_id), 'table', 'manage',
    jsonb_build_object('identifier', coalesce(new.macro_id, old.macro_id), 'version', t.version, 'totalRows', t.row_count))
  from (select coalesce(max(version), 0) as version, coalesce(max(row_count), 0) as row_count from lake_tables
    where experiment_id = coalesce(new.experiment_id, old.experiment_id) and identifier = coalesce(new.macro_id, old.macro_id)::text) t;
  return null;
end $$;
create trigger withheld_macros_changed after insert or delete on withheld_macros for each row execute function note_withheld_macro();

create function note_upload_change() returns trigger language plpgsql as $$
begin
  perform note_change(new.experiment_id, 'upload', table_action('upload'),
    jsonb_build_object('uploadId', new.id, 'status', new.status, 'uploadTableId', new.table_id));
  return null;
end $$;
create trigger uploads_begun after insert on uploads for each row execute function note_upload_change();
create trigger uploads_changed after update of status on uploads for each row
  when (old.status is distinct from new.status) execute function note_upload_change();

create function note_export_change() returns trigger language plpgsql as $$
declare
  export exports := coalesce(new, old);
begin
  perform note_change(export.experiment_id, 'export',
    table_action(coalesce((select kind from lake_tables where experiment_id = export.experiment_id and identifier = export.table_identifier), export.table_identifier)),
    jsonb_build_object('exportId', export.id, 'status', coalesce(new.status, 'removed'), 'identifier', export.table_identifier));
  return null;
end $$;
create trigger exports_begun after insert or delete on exports for each row execute function note_export_change();
create trigger exports_changed after update of status on exports for each row
  when (old.status is distinct from new.status) execute function note_export_change();

create function note_macro_run_change() returns trigger language plpgsql as $$
begin
  perform note_change(new.experiment_id, 'macroRun', 'read', jsonb_build_object('id', new.id, 'macroId', new.macro_id, 'status', new.status));
  return null;
end $$;
create trigger macro_reprocesses_begun after insert on macro_reprocesses for each row execute function note_macro_run_change();
create trigger macro_reprocesses_changed after update of status on macro_reprocesses for each row
  when (old.status is distinct from new.status) execute function note_macro_run_change();

create function note_device_change() returns trigger language plpgsql as $$
begin
  perform note_change(b.experiment_id, 'device', 'related',
    jsonb_build_object('deviceId', new.id, 'status', case new.state when 'phone' then 'active' else new.state end))
  from experiment_devices b where b.device_id = new.id;
  return null;
end $$;
create trigger devices_state_changed after update of state on devices for each row
  when (old.state is distinct from new.state) execute function note_device_change();

create function note_presence_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.connected = new.connected then return null; end if;
  perform note_change(b.experiment_id, 'device', 'device', jsonb_build_object('deviceId', d.id, 'connected', new.connected))
  from devices d join experiment_devices b on b.device_id = d.id where d.thing_name = new.thing_name;
  return null;
end $$;
create trigger device_presence_changed after insert or update of connected on device_presence for each row execute function note_presence_change();

create function forget_changes() returns trigger language plpgsql as $$
begin
  delete from changes where experiment_id = old.id;
  return null;
end $$;
create trigger experiments_forget_changes after delete on experiments for each row execute function forget_changes();
