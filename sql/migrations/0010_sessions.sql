-- Up Migration
-- Sessions, one-time codes, the browsers that people have signed in with, and what an address or a place may still try.

-- The id is a public handle: it names a session in lists and opens nothing. The token itself is kept nowhere.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  token_hash bytea not null unique check (length(token_hash) = 32),
  method text not null check (method in ('email', 'passkey', 'github', 'orcid')),
  expires_at timestamptz not null,
  renewed_at timestamptz not null default now(),
  ip_address text,
  user_agent text check (length(user_agent) <= 512),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_by_user on sessions (user_id, created_at desc);
create index sessions_by_expiry on sessions (expires_at);

-- The newest code of an address, one for browsers that have signed in there before (by digest) and one for all others (empty).
-- The digest is an HMAC under a key that is not in the database: a million tries against a stolen row tell nothing.
create table sign_in_codes (
  address text not null,
  browser bytea not null,
  digest bytea not null check (length(digest) = 32),
  salt bytea not null,
  wrong_tries smallint not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (address, browser)
);
create index sign_in_codes_by_expiry on sign_in_codes (expires_at);

create table known_browsers (
  user_id uuid not null references users on delete cascade,
  browser bytea not null check (length(browser) = 32),
  last_used_at timestamptz not null default now(),
  primary key (user_id, browser)
);

-- What is left of a budget: `used` of what is allowed since `since`. Keys are digests, so that no address or IP is listed here.
create table budgets (
  kind text not null,
  key bytea not null check (length(key) = 32),
  used integer not null,
  since timestamptz not null default now(),
  ends_at timestamptz not null,
  primary key (kind, key)
);
create index budgets_by_end on budgets (ends_at);
