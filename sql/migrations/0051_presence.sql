-- Up Migration
-- When devices connected and went, as the broker told it.

create table device_presence (
  thing_name text primary key,
  connected boolean not null,
  session text,
  -- the broker that said so last
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
  session text
);
create index presence_events_by_thing on presence_events (thing_name, at desc, id desc);

-- When a broker was last known to be there: what it had not said by then ended with it.
create table brokers (
  name text primary key,
  alive_at timestamptz not null
);
