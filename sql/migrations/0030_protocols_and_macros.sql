-- Up Migration
-- Protocols and macros: their code, every version of it, and which macro reads which protocol.

-- Where a curated resource stands in its list; most have none.
alter table resources add column sort_order integer;
create index resources_library_public on resources (type, sort_order, lower(name), id) where visibility = 'public';
create index resources_library_by_organization on resources (organization_id, type, sort_order, lower(name), id);

-- What tells whether code has changed, its family or language included.
create function code_digest(code text, kind text) returns bytea language sql immutable strict parallel safe
  return sha256(convert_to(kind || E'\n' || code, 'UTF8'));
create function code_digest(code json, kind text) returns bytea language sql immutable strict parallel safe
  return code_digest(code::text, kind);

alter table protocols
  -- json, not jsonb: 1.0 stays 1.0 and keys keep their order
  add column code json not null default '[]' check (json_typeof(code) <> 'null'),
  add column code_version integer not null default 1 check (code_version >= 1),
  add column family text not null default 'generic' check (family in ('multispeq', 'ambyte', 'minipar', 'generic', 'ambit')),
  add column code_digest bytea not null generated always as (code_digest(code, family)) stored,
  add column forked_from uuid references protocols on delete set null;
create index protocols_by_source on protocols (forked_from) where forked_from is not null;

create function macro_filename(id uuid) returns text language sql immutable strict parallel safe
  return 'macro_' || left(encode(sha256(convert_to(id::text, 'UTF8')), 'hex'), 12);

alter table macros
  add column code text not null default '',
  add column code_version integer not null default 1 check (code_version >= 1),
  add column language text not null default 'python' check (language in ('python', 'r', 'javascript')),
  add column code_digest bytea not null generated always as (code_digest(code, language)) stored,
  -- never changes, since the id does not
  add column filename text not null unique generated always as (macro_filename(id)) stored,
  add column forked_from uuid references macros on delete set null;
create index macros_by_source on macros (forked_from) where forked_from is not null;

-- What a protocol or macro said at each version. No reference: results keep pointing at the code that made them when the macro is gone.
create table code_versions (
  resource_id uuid not null,
  version integer not null,
  -- JSON text for a protocol, source for a macro
  code text not null,
  -- the protocol's family, the macro's language
  kind text not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (resource_id, version)
);

create table macro_protocols (
  macro_id uuid not null references macros on delete cascade,
  protocol_id uuid not null references protocols on delete cascade,
  added_by uuid references users on delete set null,
  added_at timestamptz not null default now(),
  primary key (macro_id, protocol_id)
);
create index macro_protocols_by_protocol on macro_protocols (protocol_id);
