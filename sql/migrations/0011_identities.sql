-- Up Migration
-- Accounts at identity providers, and passkeys.

-- No token of a provider is kept: it is used once, at sign-in, to ask who it is.
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

-- A ceremony that was begun and may be ended once. What it is bound to travels in a sealed cookie; the row only says that it is unused.
create table ceremonies (
  id uuid primary key,
  kind text not null check (kind in ('passkey-registration', 'passkey-authentication', 'provider')),
  expires_at timestamptz not null
);
create index ceremonies_by_expiry on ceremonies (expires_at);
