-- Up Migration
-- What waits is a table of its own: to end a message is to end a narrow row, and the bytes of nearly every message are written once.
alter table messages rename to inbox;
alter table inbox rename constraint messages_pkey to inbox_pkey;

create table pending_messages (
  experiment_id uuid not null,
  -- of the inbox; the order in which they are taken
  ordinal bigint not null,
  message_id uuid not null,
  byte_count integer not null,
  tries integer not null default 0,
  -- has been handled before, and set aside
  again boolean not null default false,
  primary key (experiment_id, ordinal)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

insert into pending_messages (experiment_id, ordinal, message_id, byte_count, tries, again)
select experiment_id, ordinal, id, byte_count, tries, reasons <> '{}' from inbox where status = 'pending';

drop index messages_pending;
drop index messages_set_aside;
alter table inbox drop constraint messages_status_check;
update inbox set status = case when reasons = '{}' then 'stored' else 'partial' end, stored = case when reasons = '{}' then 1 else stored end
where status = 'pending';
-- what nearly every message comes to, once it is not pending
alter table inbox alter status set default 'stored', alter stored set default 1, drop column tries,
  add constraint inbox_status_check check (status in ('stored', 'partial', 'quarantined'));
create index inbox_set_aside on inbox (experiment_id, handled_at) where status <> 'stored';
