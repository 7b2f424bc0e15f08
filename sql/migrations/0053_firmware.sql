-- Up Migration
-- Releases of firmware as GitHub last told them, by repository; shared by all processes.

create table firmware_releases (
  repository text primary key,
  etag text,
  releases jsonb not null,
  fetched_at timestamptz not null,
  -- after a failure nothing is asked until then
  retry_at timestamptz not null default '-infinity'
);
