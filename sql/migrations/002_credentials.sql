-- How callers prove who they are: sessions, codes, passkeys, providers, API keys; and what each of them may still spend.

-- The id names a session in lists and opens nothing. Only a hash of the token is kept.
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

-- The newest code of an address: one for each browser that has signed in there before (by its digest), one for all others (empty).
-- The digest is an HMAC under a key that is not in the database, so a stolen row cannot be guessed.
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

-- Browsers that a person has signed in with.
create table known_browsers (
  user_id uuid not null references users on delete cascade,
  browser bytea not null check (length(browser) = 32),
  last_used_at timestamptz not null default now(),
  primary key (user_id, browser)
);

-- Accounts at identity providers. A provider's token is used once, to ask who it is, and is not kept.
create table provider_accounts (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  provider text not null check (provider in ('github', 'orcid')),
  account_id text not null check (length(account_id) between 1 and 255),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider, account_id)
);
create index provider_accounts_by_user on provider_accounts (user_id);

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text check (length(name) between 1 and 255),
  credential_id text not null unique check (length(credential_id) <= 2048),
  public_key bytea not null,
  counter bigint not null,
  device_type text not null,
  backed_up boolean not null,
  transports text[] not null default '{}',
  aaguid text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_by_user on passkeys (user_id, created_at);

-- A sign-in that has begun and may be ended once. What belongs to it is in a sealed cookie; the row says that it is unused.
create table ceremonies (
  id uuid primary key,
  kind text not null check (kind in ('passkey-registration', 'passkey-authentication', 'provider')),
  expires_at timestamptz not null
);
create index ceremonies_by_expiry on ceremonies (expires_at);

create table api_keys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null check (length(name) between 1 and 32),
  hash bytea not null unique check (length(hash) = 32),
  prefix text not null default 'flk_',
  last_four text not null check (length(last_four) = 4),
  enabled boolean not null default true,
  rate_limit integer not null default 100 check (rate_limit between 1 and 1000000),
  expires_at timestamptz check (expires_at <= created_at + interval '366 days'),
  revoked_at timestamptz,
  last_request_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index api_keys_by_user on api_keys (user_id);

-- Accepted requests of a key as running totals: accepted[1] at the end of `second`, accepted[1 + n] at the end of the nth second before it.
-- Unlogged: a crash forgets what one minute counted.
create unlogged table api_key_windows (
  key_id uuid primary key references api_keys on delete cascade,
  second bigint not null,
  accepted bigint[] not null check (array_length(accepted, 1) = 62)
) with (fillfactor = 50);

-- Requests that the window still holds, `passed` seconds after its last one.
create function window_used(accepted bigint[], passed bigint) returns bigint language sql immutable parallel safe
  return case when passed > 60 then 0 else accepted[1] - accepted[62 - greatest(passed, 0)] end;

-- The window with one more request, `passed` seconds after its last one.
create function window_counted(accepted bigint[], passed bigint) returns bigint[] language sql immutable parallel safe
  return case
    when passed <= 0 then accepted[1] + 1 || accepted[2:62]
    when passed > 60 then 1::bigint || array_fill(0::bigint, array[61])
    else accepted[1] + 1 || (array_fill(accepted[1], array[passed::integer - 1]) || accepted[1:62 - passed::integer]) end;

-- What has been spent of a limit since `since`. Keys are digests, so no address and no IP is listed here.
create table budgets (
  kind text not null,
  key bytea not null check (length(key) = 32),
  used integer not null,
  since timestamptz not null default now(),
  ends_at timestamptz not null,
  primary key (kind, key)
);
create index budgets_by_end on budgets (ends_at);

-- Answers to requests with an Idempotency-Key, so that a repeated request is carried out once.
create table idempotency_keys (
  caller_id uuid not null references users on delete cascade,
  method text not null,
  path text not null,
  key text not null,
  fingerprint bytea not null,
  -- null while the first call runs
  status integer,
  body text,
  headers jsonb,
  secret_made text,
  created_at timestamptz not null default now(),
  locked_until timestamptz not null default now() + interval '2 minutes',
  primary key (caller_id, method, path, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
