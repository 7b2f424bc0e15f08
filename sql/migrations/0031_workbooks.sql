-- Up Migration
-- Workbooks, what they use, and their immutable versions, which experiments pin.

alter table workbooks
  add column cells json not null default '[]',
  add column metadata json not null default '{}',
  -- SHA-256 of the canonical design: cells without outputs, answers and collapse flags
  add column design_digest bytea not null default sha256('[]'),
  -- cells by type, for lists
  add column cell_type_counts jsonb not null default '{}',
  add column forked_from uuid references workbooks on delete set null;
create index workbooks_by_source on workbooks (forked_from) where forked_from is not null;

-- Protocols and macros that the cells name, whether they exist or not.
create table workbook_uses (
  workbook_id uuid not null references workbooks on delete cascade,
  resource_id uuid not null,
  resource_type text not null check (resource_type in ('protocol', 'macro')),
  primary key (workbook_id, resource_id)
);
create index workbook_uses_by_resource on workbook_uses (resource_id);

create table workbook_versions (
  id uuid primary key,
  -- no reference: a version that an experiment pins outlives its workbook
  workbook_id uuid not null,
  version integer not null check (version >= 1),
  cells json not null,
  metadata json not null,
  design_digest bytea not null,
  -- {protocols: {id: {code, family}}, macros: {id: {code, language}}} as they were
  entity_snapshots json not null,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  unique (workbook_id, version)
);

-- What each used protocol or macro said when the version was made; null when it was gone already.
create table workbook_version_uses (
  version_id uuid not null references workbook_versions on delete cascade,
  resource_id uuid not null,
  code_digest bytea,
  primary key (version_id, resource_id)
);

create function refuse_version_change() returns trigger language plpgsql as $$
begin
  raise exception 'a workbook version never changes' using errcode = 'restrict_violation';
end $$;
create trigger workbook_versions_immutable before update on workbook_versions for each row execute function refuse_version_change();

alter table experiments
  add foreign key (workbook_id) references workbooks on delete set null,
  add foreign key (workbook_version_id) references workbook_versions on delete restrict;
create index experiments_by_workbook on experiments (workbook_id) where workbook_id is not null;
create index experiments_by_workbook_version on experiments (workbook_version_id) where workbook_version_id is not null;

-- A version goes when its workbook is gone and no experiment pins it any more.
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
