-- Up Migration
-- The inbox: every measurement message that was acknowledged, kept as it came until it is rows, and after that for replay.

create table messages (
  id uuid primary key,
  -- the order of arrival
  ordinal bigint generated always as identity,
  -- no reference: a message may name an experiment that is not there, and the erasure job removes what a deleted one leaves
  experiment_id uuid not null,
  -- 10 bytes of SHA-256 over experiment, sender and body: identical bytes from one sender are one message
  source bytea not null check (length(source) = 10),
  -- whom we know to have sent it: a certificate's client id, or a person
  client_id text,
  user_id uuid,
  -- from the topic; beats what the payload says
  protocol_id text,
  arrived_at timestamptz not null default now(),
  byte_count integer not null check (byte_count >= 0),
  -- the bytes as they came: here, or in the object store
  body bytea,
  object_key text,
  status text not null default 'pending' check (status in ('pending', 'stored', 'partial', 'quarantined')),
  stored bigint not null default 0,
  quarantined bigint not null default 0,
  already_there bigint not null default 0,
  -- why measurements of it were not stored: { reason: count }
  reasons jsonb not null default '{}',
  tries integer not null default 0,
  handled_at timestamptz,
  unique (experiment_id, source),
  check (num_nonnulls(body, object_key) = 1)
);
create index messages_pending on messages (experiment_id, ordinal) where status = 'pending';
create index messages_set_aside on messages (experiment_id, handled_at) where status in ('partial', 'quarantined');

-- Whose measurements an experiment holds, so that its rows can name them.
create table contributors (
  experiment_id uuid not null,
  user_id uuid not null references users on delete cascade,
  primary key (experiment_id, user_id)
);
