-- Resources of six types, who may use them, and what was done to them.

-- What every shared thing has. The table of each type adds its own columns under the same id.
create table resources (
  id uuid primary key,
  type text not null check (type in ('experiment', 'protocol', 'macro', 'workbook', 'device', 'device_group')),
  organization_id uuid not null references organizations on delete restrict,
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  -- private until then, public from then on; the access view compares it with the clock
  public_from timestamptz check (public_from is null or type = 'experiment'),
  name text not null check (length(name) between 1 and 255),
  description text,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version bigint not null default 1,
  -- where a curated resource stands in its list; most have none
  sort_order integer,
  -- what a search finds it by; written by the triggers of the search
  search tsvector,
  -- the same as an experiment's status, kept here so that a list is read from its index alone
  is_archived boolean not null default false,
  unique (id, type)
);
-- a row of a page is looked up by one page of a hash index, whatever the table holds
create index resources_at on resources using hash (id);
create index resources_by_organization on resources (organization_id, type, updated_at desc, id desc) include (is_archived);
create index resources_public on resources (type, updated_at desc, id desc) include (is_archived) where visibility = 'public';
create index resources_by_change on resources (updated_at desc, id desc) where visibility = 'public';
create index resources_embargoed on resources (type, public_from) where public_from is not null and visibility = 'private';
create index resources_by_creator on resources (created_by, type);
create index resources_library_by_organization on resources (organization_id, type, sort_order, lower(name), id);
create index resources_library_public on resources (type, sort_order, lower(name), id) where visibility = 'public';
create index resources_name_prefix on resources (lower(name) text_pattern_ops);
create index resources_name_trigram on resources using gin (name gin_trgm_ops);
create index resources_search on resources using gin (search);
create index resources_search_public on resources using gin (search) where visibility = 'public';

-- One grant ties one resource to one grantee: a person, a team or an organization. It goes with either of them.
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
-- the type is included so that a decision about one resource does not have to read the resource
create unique index grants_one_per_user on grants (user_id, resource_id) include (confers_all, confers_read, resource_type) where user_id is not null;
create unique index grants_one_per_team on grants (team_id, resource_id) include (confers_all, confers_read, resource_type) where team_id is not null;
create unique index grants_one_per_organization on grants (organization_id, resource_id) include (confers_all, confers_read, resource_type)
  where organization_id is not null;
create index grants_at on grants using hash (resource_id);

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

-- What was done, by whom, to what. The application's role may add and read, and nothing else (sql/roles.sql).
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
create index audit_events_by_subject on audit_events (subject_id, at desc);
