-- Up Migration
-- Projects that people ask to bring over from another platform, and the webhook deliveries that brought them.

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

-- Ids of deliveries that were carried out, with what was answered. One id is carried out once.
create table webhook_deliveries (
  id text primary key check (length(id) between 1 and 255),
  answer jsonb,
  received_at timestamptz not null default now()
);
create index webhook_deliveries_by_age on webhook_deliveries (received_at);
