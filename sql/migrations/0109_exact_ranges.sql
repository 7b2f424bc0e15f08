-- Up Migration
-- Monitoring of any half-open range to the instant: what was measured in the hours that a range cuts, sums by day for whole fleets, and presence in the order it was told.

alter table message_hours add column id bigint generated always as identity;
alter table message_hours add constraint message_hours_id_key unique (id);

-- Every measurement of a sum; only hours that a range cuts are counted from here. It goes with its sum by a trigger: a foreign key would lock the sum for each.
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

-- of what was summed before, only the ends are known: the rest is spread evenly between them
insert into message_instants (hour_id, at, gps, battery)
select h.id, h.first_at + (h.last_at - h.first_at) * (n::double precision / greatest(h.count - 1, 1)), n < h.with_gps,
  case when n < h.battery_count then h.battery_sum / h.battery_count end
from message_hours h cross join generate_series(0, h.count - 1) n;

create table message_days (
  client_id text not null,
  -- its start, UTC
  day timestamptz not null,
  experiment_id uuid not null references experiments on delete cascade,
  count bigint not null,
  primary key (client_id, day, experiment_id)
);
create index message_days_by_experiment on message_days (experiment_id);

insert into message_days (client_id, day, experiment_id, count)
select client_id, date_trunc('day', hour, 'UTC'), experiment_id, sum(count) from message_hours group by 1, 2, 3;

-- runs go with their experiment; of earlier ones it is not known
alter table message_runs add column experiment_id uuid references experiments on delete cascade;
alter table message_runs drop constraint message_runs_pkey;
create unique index message_runs_once on message_runs (client_id, hour, run_id, experiment_id) nulls not distinct;
create index message_runs_by_experiment on message_runs (experiment_id);

-- the order in which events of one instant were told
alter table presence_events add column ordinal bigint generated always as identity;
drop index presence_events_by_thing;
create index presence_events_by_thing on presence_events (thing_name, at desc, ordinal desc);
