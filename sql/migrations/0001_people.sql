-- Up Migration
-- People, organizations, teams, resources of six types, grants, API keys, audit, idempotency.

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
create index users_email_trigram on users using gin (email gin_trgm_ops);

create table organizations (
  id uuid primary key,
  name text not null check (length(name) between 1 and 255),
  slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 255),
  -- set on personal workspaces only: their permanent sole owner
  personal_user_id uuid unique references users on delete restrict,
  logo text,
  metadata jsonb,
  type text check (type in ('research_institute', 'non_profit', 'private_company', 'government_agency', 'university')),
  description text,
  website text check (length(website) <= 255),
  location text,
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((personal_user_id is not null) = starts_with(slug, 'personal-')),
  check (personal_user_id is null or visibility = 'private')
);

-- A role string may be a comma list; each generated flag says what the whole list confers. The trimmed characters are those of
-- JavaScript's trim, so that the pure matrix in authorization/roles.ts and this reading agree.
create function role_tokens(role text) returns text[] language sql immutable strict parallel safe
  return regexp_split_to_array(role, E'[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*,[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*');
create function role_trimmed(role text) returns text language sql immutable strict parallel safe
  return regexp_replace(role, E'^[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+|[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+$', '', 'g');

create table organization_members (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null default 'member',
  is_owner boolean not null generated always as ('owner' = any (role_tokens(role_trimmed(role)))) stored,
  is_admin boolean not null generated always as (role_tokens(role_trimmed(role)) && array['owner', 'admin']) stored,
  is_member boolean not null generated always as (role_tokens(role_trimmed(role)) && array['owner', 'admin', 'member']) stored,
  created_at timestamptz not null default now(),
  unique (organization_id, user_id)
);
create index organization_members_by_user on organization_members (user_id, organization_id) include (is_admin, is_member);
create index organization_members_owners on organization_members (organization_id) where is_owner;

create table teams (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null check (length(name) between 1 and 255),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (id, organization_id)
);
create index teams_by_organization on teams (organization_id, name);

-- A team member is a member of the team's organization, or not at all.
create table team_members (
  id uuid primary key,
  team_id uuid not null,
  organization_id uuid not null,
  user_id uuid not null,
  created_at timestamptz not null default now(),
  unique (team_id, user_id),
  foreign key (team_id, organization_id) references teams (id, organization_id) on delete cascade,
  foreign key (organization_id, user_id) references organization_members (organization_id, user_id) on delete cascade
);
create index team_members_by_user on team_members (user_id, team_id);

-- What every shared thing has. The table of each type adds its own columns under the same id.
create table resources (
  id uuid primary key,
  type text not null check (type in ('experiment', 'protocol', 'macro', 'workbook', 'device', 'device_group')),
  organization_id uuid not null references organizations on delete restrict,
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  -- private until then, public from then on; the access view honours it at once
  public_from timestamptz check (public_from is null or type = 'experiment'),
  name text not null check (length(name) between 1 and 255),
  description text,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version bigint not null default 1,
  unique (id, type)
);
create index resources_by_organization on resources (organization_id, type, updated_at desc, id desc);
create index resources_public on resources (type, updated_at desc, id desc) where visibility = 'public';
create index resources_embargoed on resources (type, public_from) where public_from is not null and visibility = 'private';
create index resources_by_creator on resources (created_by, type);
create index resources_name_trigram on resources using gin (name gin_trgm_ops);

create table experiments (
  id uuid primary key,
  type text not null default 'experiment' check (type = 'experiment'),
  status text not null default 'active' check (status in ('active', 'stale', 'archived', 'published')),
  anonymize_contributors boolean not null default false,
  -- HMAC key of the pseudonyms; never enters a lakehouse statement
  pseudonym_secret bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
  workbook_id uuid,
  workbook_version_id uuid,
  foreign key (id, type) references resources (id, type) on delete cascade
);
create index experiments_archived on experiments (id) where status = 'archived';

create table protocols (
  id uuid primary key,
  type text not null default 'protocol' check (type = 'protocol'),
  foreign key (id, type) references resources (id, type) on delete cascade
);
create table macros (
  id uuid primary key,
  type text not null default 'macro' check (type = 'macro'),
  foreign key (id, type) references resources (id, type) on delete cascade
);
create table workbooks (
  id uuid primary key,
  type text not null default 'workbook' check (type = 'workbook'),
  foreign key (id, type) references resources (id, type) on delete cascade
);
create table devices (
  id uuid primary key,
  type text not null default 'device' check (type = 'device'),
  foreign key (id, type) references resources (id, type) on delete cascade
);
create table device_groups (
  id uuid primary key,
  type text not null default 'device_group' check (type = 'device_group'),
  foreign key (id, type) references resources (id, type) on delete cascade
);

-- One grant ties one resource to one grantee; the grantee is exactly one of the three, and goes with it.
create table grants (
  id uuid primary key,
  resource_id uuid not null,
  resource_type text not null,
  user_id uuid references users on delete cascade,
  team_id uuid references teams on delete cascade,
  organization_id uuid references organizations on delete cascade,
  grantee_type text not null generated always as (case when user_id is not null then 'user' when team_id is not null then 'team' else 'organization' end) stored,
  grantee_id uuid not null generated always as (coalesce(user_id, team_id, organization_id)) stored,
  role text not null,
  confers_all boolean not null generated always as (role in ('owner', 'admin')) stored,
  confers_read boolean not null generated always as (role in ('owner', 'admin', 'viewer')) stored,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(user_id, team_id, organization_id) = 1),
  foreign key (resource_id, resource_type) references resources (id, type) on delete cascade
);
create unique index grants_one_per_user on grants (user_id, resource_id) include (confers_all, confers_read) where user_id is not null;
create unique index grants_one_per_team on grants (team_id, resource_id) include (confers_all, confers_read) where team_id is not null;
create unique index grants_one_per_organization on grants (organization_id, resource_id) include (confers_all, confers_read) where organization_id is not null;
create index grants_by_resource on grants (resource_id);

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

-- Accepted requests of a key, one counter for each of the last 60 seconds and the current one. Unlogged: a crash may forget a minute.
create unlogged table api_key_windows (
  key_id uuid primary key,
  second bigint not null,
  counts integer[] not null
) with (fillfactor = 50);

-- The counters of a window that starts `seconds` later: newest first, 61 of them, so that no 60 seconds hold more than the limit.
create function window_shifted(counts integer[], seconds bigint) returns integer[] language sql immutable parallel safe
  return case when seconds <= 0 then counts when seconds >= 61 then array_fill(0, array[61]) else array_fill(0, array[seconds::integer]) || counts[1:61 - seconds::integer] end;
create function window_total(counts integer[]) returns bigint language sql immutable parallel safe
  return (select sum(count) from unnest(counts) as count);

create table audit_events (
  id uuid primary key,
  at timestamptz not null default now(),
  actor_id uuid,
  action text not null,
  organization_id uuid,
  resource_type text,
  resource_id uuid,
  subject_id uuid,
  request_id text,
  details jsonb not null default '{}'
);
create index audit_events_by_organization on audit_events (organization_id, at desc);
create index audit_events_by_actor on audit_events (actor_id, at desc);
create index audit_events_by_resource on audit_events (resource_id, at desc);

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
