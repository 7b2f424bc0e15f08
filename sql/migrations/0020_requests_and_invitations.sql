-- Up Migration
-- How people come in: requests to join an organization or an experiment, and invitations to an organization, a resource or the service.

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

create table experiment_join_requests (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  user_id uuid not null references users on delete cascade,
  message text check (length(message) <= 250),
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'cancelled')),
  decided_by uuid references users on delete set null,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index experiment_join_requests_one_pending on experiment_join_requests (experiment_id, user_id) where status = 'pending';
create index experiment_join_requests_by_user on experiment_join_requests (user_id);

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

-- Teams that an accepted invitation adds to.
create table organization_invitation_teams (
  invitation_id uuid not null references organization_invitations on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (invitation_id, team_id)
);
create index organization_invitation_teams_by_team on organization_invitation_teams (team_id);

-- An invitation to one resource, or to the service itself (`platform`), which has no resource.
create table invitations (
  id uuid primary key,
  resource_type text not null check (resource_type in ('platform', 'experiment', 'macro', 'protocol', 'workbook', 'device')),
  resource_id uuid,
  email text not null check (email = canonical_email(email) and length(email) between 3 and 320),
  tier text not null default 'viewer' check (tier in ('admin', 'viewer')),
  status text not null default 'pending' check (status in ('pending', 'accepted', 'revoked')),
  invited_by uuid not null references users on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((resource_type = 'platform') = (resource_id is null)),
  foreign key (resource_id, resource_type) references resources (id, type) on delete cascade
);
create unique index invitations_one_pending on invitations (resource_id, email) where status = 'pending' and resource_id is not null;
create unique index invitations_one_platform_pending on invitations (invited_by, email) where status = 'pending' and resource_id is null;
create index invitations_by_email on invitations (email);
create index invitations_by_inviter on invitations (invited_by, created_at desc);
