-- Experiments and what belongs to one: places, flow, metadata, charts, dashboards, join requests, erasure.

create table experiments (
  id uuid primary key,
  type text not null default 'experiment' check (type = 'experiment'),
  status text not null default 'active' check (status in ('active', 'stale', 'archived', 'published')),
  anonymize_contributors boolean not null default false,
  -- HMAC key of the pseudonyms; never enters a lakehouse statement
  pseudonym_secret bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
  workbook_id uuid references workbooks on delete set null,
  -- the version that it pins
  workbook_version_id uuid references workbook_versions on delete restrict,
  foreign key (id, type) references resources (id, type) on delete cascade
);
create index experiments_at on experiments using hash (id);
create index experiments_by_workbook on experiments (workbook_id) where workbook_id is not null;
create index experiments_by_workbook_version on experiments (workbook_version_id) where workbook_version_id is not null;

create function mark_archived() returns trigger language plpgsql as $$
begin
  update resources set is_archived = not is_archived where id = new.id and is_archived <> (new.status = 'archived');
  return null;
end $$;
create trigger experiments_archive after insert or update of status on experiments for each row execute function mark_archived();

-- A workbook's version goes when the workbook is gone and no experiment pins the version.
create function release_versions_of_workbook() returns trigger language plpgsql as $$
begin
  delete from workbook_versions v where v.workbook_id = old.id and not exists (select from experiments e where e.workbook_version_id = v.id);
  return null;
end $$;
create trigger workbooks_release after delete on workbooks for each row execute function release_versions_of_workbook();

create function release_pinned_version() returns trigger language plpgsql as $$
begin
  delete from workbook_versions v
  where v.id = old.workbook_version_id
    and not exists (select from workbooks w where w.id = v.workbook_id)
    and not exists (select from experiments e where e.workbook_version_id = v.id);
  return null;
end $$;
create trigger experiments_release_version after delete or update of workbook_version_id on experiments
  for each row when (old.workbook_version_id is not null) execute function release_pinned_version();

create table locations (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  name text not null check (length(name) between 1 and 255),
  latitude numeric(10, 8) not null check (latitude between -90 and 90),
  longitude numeric(11, 8) not null check (longitude between -180 and 180),
  country text check (length(country) <= 100),
  region text check (length(region) <= 100),
  municipality text check (length(municipality) <= 100),
  postal_code text check (length(postal_code) <= 20),
  address_label text check (length(address_label) <= 1000),
  ordinal bigint generated always as identity,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index locations_by_experiment on locations (experiment_id, ordinal);

-- The graph that a person walks through in the field; at most one for each experiment.
create table flows (
  id uuid primary key,
  experiment_id uuid not null unique references experiments on delete cascade,
  graph jsonb not null,
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- What a metadata table adds to measurements, without its rows: the rows are in the lake.
create function metadata_shape(metadata jsonb) returns jsonb language sql immutable parallel safe
  return jsonb_build_object(
    'matchedBy', case when metadata ->> 'experimentQuestionId' = 'column:device_id' then 'device_id' else metadata ->> 'experimentQuestionId' end,
    'columns', coalesce(
      (select jsonb_agg(jsonb_build_object('name', c ->> 'name', 'type', c ->> 'type') order by place)
       from jsonb_array_elements(case when jsonb_typeof(metadata -> 'columns') = 'array' then metadata -> 'columns' else '[]' end) with ordinality as listed (c, place)
       where c ->> 'id' is distinct from metadata ->> 'identifierColumnId' and c ->> 'name' is not null),
      '[]'));

create table metadata_records (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  metadata jsonb not null,
  -- characters of the metadata as it was sent
  size integer not null,
  version bigint not null default 1,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  shape jsonb not null generated always as (metadata_shape(metadata)) stored
);
create index metadata_records_by_experiment on metadata_records (experiment_id, created_at desc, id desc);

create table visualizations (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  chart_family text not null,
  chart_type text not null,
  config jsonb not null default '{}',
  data_config jsonb not null,
  version bigint not null default 1,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index visualizations_by_experiment on visualizations (experiment_id, created_at desc, id desc);

create table dashboards (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  layout jsonb not null,
  widgets jsonb not null default '[]',
  version bigint not null default 1,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index dashboards_by_experiment on dashboards (experiment_id, created_at desc, id desc);

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

-- The removal of everything that a deleted experiment leaves. No reference: the experiment is gone when this row is made.
create table erasures (
  id uuid primary key,
  experiment_id uuid not null unique,
  requested_by uuid references users on delete set null,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed')),
  -- rows and bytes that were removed, for each store
  report jsonb not null default '{}',
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
