-- Calls that organizations ask us to make, and projects that come over from another platform.

create table webhook_endpoints (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  url text not null check (length(url) between 1 and 2000),
  description text check (length(description) <= 1000),
  kinds text[] not null,
  -- signing needs the secrets as they are: they are sealed under a key that is not in the database
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
  -- a process is calling it, until this at the latest
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

-- Projects that people ask to bring over from another platform.
create table project_transfer_requests (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  user_email text not null,
  source_platform text not null,
  project_id_old text not null check (length(project_id_old) between 1 and 255),
  project_url_old text not null check (length(project_url_old) <= 2000),
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'failed', 'completed', 'partial_failed')),
  -- no reference: the request stays when the experiment is deleted
  experiment_id uuid,
  requested_at timestamptz not null default now(),
  decided_at timestamptz,
  check ((status = 'completed') <= (experiment_id is not null))
);
-- a rejected or failed one may be asked for again
create unique index project_transfer_requests_one on project_transfer_requests (user_id, project_id_old) where status not in ('rejected', 'failed');
create index project_transfer_requests_by_user on project_transfer_requests (user_id, requested_at desc);

-- Ids of deliveries that were carried out, with the answer. One id is carried out once.
create table webhook_deliveries (
  id text primary key check (length(id) between 1 and 255),
  answer jsonb,
  received_at timestamptz not null default now()
);
create index webhook_deliveries_by_age on webhook_deliveries (received_at);
