-- People: their accounts, what others see of them, and the newsletter.

create extension if not exists pg_trgm;
create extension if not exists unaccent;

create function canonical_email(address text) returns text language sql immutable strict parallel safe
  return lower(trim(address));

create table users (
  id uuid primary key,
  email text unique check (email = canonical_email(email) and length(email) between 3 and 320),
  email_verified boolean not null default false,
  name text not null default '',
  image text,
  registered boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- a closed account keeps its id and nothing that identifies a person
  check (deleted_at is null or (email is null and not email_verified and image is null))
);
create index users_email_trigram on users using gin (email gin_trgm_ops);

create table profiles (
  user_id uuid primary key references users on delete cascade,
  first_name text not null check (length(first_name) between 1 and 100),
  last_name text not null check (length(last_name) between 1 and 100),
  bio text,
  avatar_url text check (length(avatar_url) <= 500),
  activated boolean not null default true,
  whats_new_seen_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index profiles_name_trigram on profiles using gin ((first_name || ' ' || last_name) gin_trgm_ops);

-- People whose shown name or avatar has changed and is not yet in the lake. The row goes when the identity dimension has been replaced.
create table identity_changes (
  user_id uuid primary key references users on delete cascade,
  changed_at timestamptz not null default now(),
  -- until then one process works on it; when that process dies, another takes it up after this time
  leased_until timestamptz not null default '-infinity',
  -- the lake shows the new name since then; of a closed account the files with the old name are still to be removed
  refreshed_at timestamptz
);
create index identity_changes_by_lease on identity_changes (leased_until);

-- Who wants the newsletter. An address is subscribed only once it is proven: by the link in a letter, or by its account.
create table newsletter_subscribers (
  email text primary key check (email = canonical_email(email) and length(email) between 3 and 320),
  status text not null default 'pending' check (status in ('pending', 'subscribed', 'unsubscribed')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A closed account leaves no address here either.
create function forget_newsletter_address() returns trigger language plpgsql as $$
begin
  delete from newsletter_subscribers where email = old.email;
  return new;
end $$;
create trigger users_forget_newsletter after update of deleted_at on users
  for each row when (new.deleted_at is not null and old.deleted_at is null and old.email is not null) execute function forget_newsletter_address();
