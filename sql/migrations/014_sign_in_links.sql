-- Up Migration
-- Links that the start prints: each signs one person in, once. Only the hash of what stands in the link is kept.
create table sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id uuid not null references users (id) on delete cascade,
  target text not null,
  expires_at timestamptz not null
);
create index sign_in_links_by_user on sign_in_links (user_id);
alter table sessions drop constraint sessions_method_check;
alter table sessions add constraint sessions_method_check check (method in ('email', 'passkey', 'github', 'orcid', 'link'));
