-- Up Migration
-- Calls that organizations ask us to make when something of theirs changes.

create table webhook_endpoints (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  url text not null check (length(url) between 1 and 2000),
  description text check (length(description) <= 1000),
  kinds text[] not null,
  -- sealed under a key that is not in the database, since signing needs them as they are
  secret text not null,
  old_secret text,
  old_secret_until timestamptz,
  is_enabled boolean not null default true,
  disabled_reason text,
  -- attempts that failed since the last one that did not
  failures integer not null default 0,
  failing_since timestamptz,
  last_success_at timestamptz,
  -- nothing is tried before this
  held_until timestamptz,
  -- somebody is calling it, until this at the latest
  busy_until timestamptz,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version bigint not null default 1
);
create index webhook_endpoints_by_organization on webhook_endpoints (organization_id, created_at desc, id desc);

-- One event for one endpoint.
create table webhook_messages (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  kind text not null,
  -- the bytes that are signed and sent
  payload text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create index webhook_messages_due on webhook_messages (next_attempt_at) where status = 'pending';
create index webhook_messages_by_endpoint on webhook_messages (endpoint_id, created_at desc, id desc);
create index webhook_messages_pending on webhook_messages (endpoint_id, next_attempt_at) where status = 'pending';

create table webhook_attempts (
  id uuid primary key,
  message_id uuid not null references webhook_messages on delete cascade,
  at timestamptz not null default now(),
  -- null when there was no answer
  status_code integer,
  failure text,
  milliseconds integer not null
);
create index webhook_attempts_by_message on webhook_attempts (message_id, at, id);
