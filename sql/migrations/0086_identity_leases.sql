-- Up Migration
-- Changed names reach the lake by whoever takes them up first. One at a time per person, tried again a while after a process that took one is gone.

alter table identity_changes
  -- nobody else takes it up until then
  add column leased_until timestamptz not null default '-infinity',
  -- the lake shows the new name; of a closed account the files with the old one are still to be removed
  add column refreshed_at timestamptz;
create index identity_changes_by_lease on identity_changes (leased_until);
create index uploads_by_creator on uploads (created_by);
create index contributors_by_user on contributors (user_id);
