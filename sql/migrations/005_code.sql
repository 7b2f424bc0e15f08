-- Protocols and macros with every version of their code, and workbooks that use them.

-- Two codes are the same when their digests are; family or language counts as part of the code.
create function code_digest(code text, kind text) returns bytea language sql immutable strict parallel safe
  return sha256(convert_to(kind || E'\n' || code, 'UTF8'));
create function code_digest(code json, kind text) returns bytea language sql immutable strict parallel safe
  return code_digest(code::text, kind);

create table protocols (
  id uuid primary key,
  type text not null default 'protocol' check (type = 'protocol'),
  -- json, not jsonb: 1.0 stays 1.0 and keys keep their order
  code json not null default '[]' check (json_typeof(code) <> 'null'),
  code_version integer not null default 1 check (code_version >= 1),
  family text not null default 'generic' check (family in ('multispeq', 'ambyte', 'minipar', 'generic', 'ambit')),
  code_digest bytea not null generated always as (code_digest(code, family)) stored,
  forked_from uuid references protocols on delete set null,
  foreign key (id, type) references resources (id, type) on delete cascade
);
create index protocols_by_source on protocols (forked_from) where forked_from is not null;

create function macro_filename(id uuid) returns text language sql immutable strict parallel safe
  return 'macro_' || left(encode(sha256(convert_to(id::text, 'UTF8')), 'hex'), 12);

create table macros (
  id uuid primary key,
  type text not null default 'macro' check (type = 'macro'),
  code text not null default '',
  code_version integer not null default 1 check (code_version >= 1),
  language text not null default 'python' check (language in ('python', 'r', 'javascript')),
  code_digest bytea not null generated always as (code_digest(code, language)) stored,
  -- never changes, since the id does not
  filename text not null unique generated always as (macro_filename(id)) stored,
  forked_from uuid references macros on delete set null,
  foreign key (id, type) references resources (id, type) on delete cascade
);
create index macros_by_source on macros (forked_from) where forked_from is not null;

-- What a protocol or macro said at each version. No reference: results point at the code that made them after the macro is gone.
create table code_versions (
  resource_id uuid not null,
  version integer not null,
  -- JSON text of a protocol, source of a macro
  code text not null,
  -- family of a protocol, language of a macro
  kind text not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (resource_id, version)
);

-- Which macro reads the measurements of which protocol.
create table macro_protocols (
  macro_id uuid not null references macros on delete cascade,
  protocol_id uuid not null references protocols on delete cascade,
  added_by uuid references users on delete set null,
  added_at timestamptz not null default now(),
  primary key (macro_id, protocol_id)
);
create index macro_protocols_by_protocol on macro_protocols (protocol_id);

create table workbooks (
  id uuid primary key,
  type text not null default 'workbook' check (type = 'workbook'),
  cells json not null default '[]',
  metadata json not null default '{}',
  -- SHA-256 of the canonical design: cells without outputs, answers and collapse flags
  design_digest bytea not null default sha256('[]'),
  -- cells by type, for lists
  cell_type_counts jsonb not null default '{}',
  forked_from uuid references workbooks on delete set null,
  foreign key (id, type) references resources (id, type) on delete cascade
);
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
  -- as they were: {protocols: {id: {code, family}}, macros: {id: {code, language}}}
  entity_snapshots json not null,
  created_by uuid not null references users on delete restrict,
  created_at timestamptz not null default now(),
  unique (workbook_id, version)
);

create function refuse_version_change() returns trigger language plpgsql as $$
begin
  raise exception 'a workbook version never changes' using errcode = 'restrict_violation';
end $$;
create trigger workbook_versions_immutable before update on workbook_versions for each row execute function refuse_version_change();

-- What each used protocol or macro said when the version was made; null when it was gone already.
create table workbook_version_uses (
  version_id uuid not null references workbook_versions on delete cascade,
  resource_id uuid not null,
  code_digest bytea,
  primary key (version_id, resource_id)
);
