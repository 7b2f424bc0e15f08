-- Organizations, their members and teams, and how people get in.

create table organizations (
  id uuid primary key,
  name text not null check (length(name) between 1 and 255),
  slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 255),
  -- of personal workspaces only: their permanent sole owner
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

-- A role may be a list with commas. The characters that are trimmed are those of JavaScript's trim, so that authorization/roles.ts reads it the same.
create function role_tokens(role text) returns text[] language sql immutable strict parallel safe
  return regexp_split_to_array(role, E'[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*,[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*');
create function role_trimmed(role text) returns text language sql immutable strict parallel safe
  return regexp_replace(role, E'^[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+|[ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+$', '', 'g');

create table organization_members (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null default 'member',
  -- what the whole list of roles confers
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

-- A team's member is a member of the team's organization.
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

create table organization_join_requests (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  message text check (length(message) <= 250),
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'cancelled')),
  decided_by uuid references users on delete set null,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index organization_join_requests_one_pending on organization_join_requests (organization_id, user_id) where status = 'pending';
create index organization_join_requests_by_organization on organization_join_requests (organization_id, created_at desc);
create index organization_join_requests_by_user on organization_join_requests (user_id);

create table organization_invitations (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  email text not null check (email = canonical_email(email) and length(email) between 3 and 320),
  role text not null check (role in ('owner', 'admin', 'member')),
  status text not null default 'pending' check (status in ('pending', 'accepted', 'rejected', 'canceled')),
  inviter_id uuid not null references users on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create unique index organization_invitations_one_pending on organization_invitations (organization_id, email) where status = 'pending';
create index organization_invitations_by_email on organization_invitations (email);

-- Teams that an accepted invitation adds the person to.
create table organization_invitation_teams (
  invitation_id uuid not null references organization_invitations on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (invitation_id, team_id)
);
create index organization_invitation_teams_by_team on organization_invitation_teams (team_id);
