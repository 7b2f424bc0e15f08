-- Up Migration
-- People whose shown name or avatar has changed since the lakehouse last read it. Whoever replaces the identity dimension takes rows away.

create table identity_changes (
  user_id uuid primary key references users on delete cascade,
  changed_at timestamptz not null default now()
);
