-- Up Migration
-- A try is of a batch: one row says so, where every message of it was written anew before.
create table message_tries (
  id bigint generated always as identity primary key,
  experiment_id uuid not null,
  -- places in the order of arrival, both tried
  first_ordinal bigint not null,
  last_ordinal bigint not null
);
create index message_tries_by_experiment on message_tries (experiment_id);

drop view if exists messages;
alter table pending_messages drop column tries;
alter table pending_messages reset (fillfactor);
