-- Printed from the catalogue by npm run db:schema; do not edit.
unlogged table api_key_windows
  key_id uuid not null
  second bigint not null
  counts integer[] not null
  constraint api_key_windows_pkey PRIMARY KEY (key_id)
table api_keys
  id uuid not null
  user_id uuid not null
  name text not null
  hash bytea not null
  prefix text not null default 'flk_'::text
  last_four text not null
  enabled boolean not null default true
  rate_limit integer not null default 100
  expires_at timestamp with time zone
  revoked_at timestamp with time zone
  last_request_at timestamp with time zone
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint api_keys_check CHECK ((expires_at <= (created_at + '366 days'::interval)))
  constraint api_keys_hash_check CHECK ((length(hash) = 32))
  constraint api_keys_last_four_check CHECK ((length(last_four) = 4))
  constraint api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 32)))
  constraint api_keys_rate_limit_check CHECK (((rate_limit >= 1) AND (rate_limit <= 1000000)))
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint api_keys_pkey PRIMARY KEY (id)
  constraint api_keys_hash_key UNIQUE (hash)
  CREATE INDEX api_keys_by_user ON public.api_keys USING btree (user_id)
table audit_events
  id uuid not null
  at timestamp with time zone not null default now()
  actor_id uuid
  action text not null
  organization_id uuid
  resource_type text
  resource_id uuid
  subject_id uuid
  request_id text
  details jsonb not null default '{}'::jsonb
  constraint audit_events_pkey PRIMARY KEY (id)
  CREATE INDEX audit_events_by_actor ON public.audit_events USING btree (actor_id, at DESC)
  CREATE INDEX audit_events_by_organization ON public.audit_events USING btree (organization_id, at DESC)
  CREATE INDEX audit_events_by_resource ON public.audit_events USING btree (resource_id, at DESC)
table contributors
  experiment_id uuid not null
  user_id uuid not null
  constraint contributors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint contributors_pkey PRIMARY KEY (experiment_id, user_id)
table device_groups
  id uuid not null
  type text not null default 'device_group'::text
  constraint device_groups_type_check CHECK ((type = 'device_group'::text))
  constraint device_groups_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint device_groups_pkey PRIMARY KEY (id)
table devices
  id uuid not null
  type text not null default 'device'::text
  constraint devices_type_check CHECK ((type = 'device'::text))
  constraint devices_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint devices_pkey PRIMARY KEY (id)
table erasures
  id uuid not null
  experiment_id uuid not null
  requested_by uuid
  status text not null default 'queued'::text
  report jsonb not null default '{}'::jsonb
  created_at timestamp with time zone not null default now()
  completed_at timestamp with time zone
  constraint erasures_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text])))
  constraint erasures_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES users(id) ON DELETE SET NULL
  constraint erasures_pkey PRIMARY KEY (id)
  constraint erasures_experiment_id_key UNIQUE (experiment_id)
table experiments
  id uuid not null
  type text not null default 'experiment'::text
  status text not null default 'active'::text
  anonymize_contributors boolean not null default false
  pseudonym_secret bytea not null default decode(replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text), 'hex'::text)
  workbook_id uuid
  workbook_version_id uuid
  constraint experiments_status_check CHECK ((status = ANY (ARRAY['active'::text, 'stale'::text, 'archived'::text, 'published'::text])))
  constraint experiments_type_check CHECK ((type = 'experiment'::text))
  constraint experiments_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint experiments_pkey PRIMARY KEY (id)
  CREATE INDEX experiments_archived ON public.experiments USING btree (id) WHERE (status = 'archived'::text)
table grants
  id uuid not null
  resource_id uuid not null
  resource_type text not null
  user_id uuid
  team_id uuid
  organization_id uuid
  grantee_type text not null generated always as (
CASE
    WHEN (user_id IS NOT NULL) THEN 'user'::text
    WHEN (team_id IS NOT NULL) THEN 'team'::text
    ELSE 'organization'::text
END) stored
  grantee_id uuid not null generated always as (COALESCE(user_id, team_id, organization_id)) stored
  role text not null
  confers_all boolean not null generated always as ((role = ANY (ARRAY['owner'::text, 'admin'::text]))) stored
  confers_read boolean not null generated always as ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'viewer'::text]))) stored
  created_by uuid
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint grants_check CHECK ((num_nonnulls(user_id, team_id, organization_id) = 1))
  constraint grants_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint grants_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint grants_resource_id_resource_type_fkey FOREIGN KEY (resource_id, resource_type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint grants_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE
  constraint grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint grants_pkey PRIMARY KEY (id)
  CREATE INDEX grants_by_resource ON public.grants USING btree (resource_id)
  CREATE UNIQUE INDEX grants_one_per_organization ON public.grants USING btree (organization_id, resource_id) INCLUDE (confers_all, confers_read) WHERE (organization_id IS NOT NULL)
  CREATE UNIQUE INDEX grants_one_per_team ON public.grants USING btree (team_id, resource_id) INCLUDE (confers_all, confers_read) WHERE (team_id IS NOT NULL)
  CREATE UNIQUE INDEX grants_one_per_user ON public.grants USING btree (user_id, resource_id) INCLUDE (confers_all, confers_read) WHERE (user_id IS NOT NULL)
table idempotency_keys
  caller_id uuid not null
  method text not null
  path text not null
  key text not null
  fingerprint bytea not null
  status integer
  body text
  headers jsonb
  secret_made text
  created_at timestamp with time zone not null default now()
  locked_until timestamp with time zone not null default (now() + '00:02:00'::interval)
  constraint idempotency_keys_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES users(id) ON DELETE CASCADE
  constraint idempotency_keys_pkey PRIMARY KEY (caller_id, method, path, key)
  CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at)
table lake_columns
  table_id uuid not null
  name text not null
  type text not null
  origin text not null
  original_key text
  nullable boolean not null default true
  hidden boolean not null default false
  has_values boolean not null default true
  exact_double boolean not null default true
  ordinal integer not null
  since_version bigint not null
  until_version bigint
  first_seen_at timestamp with time zone not null default now()
  last_seen_at timestamp with time zone not null default now()
  constraint lake_columns_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint lake_columns_origin_check CHECK ((origin = ANY (ARRAY['base'::text, 'question'::text, 'output'::text, 'uploaded'::text, 'metadata'::text])))
  constraint lake_columns_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint lake_columns_pkey PRIMARY KEY (table_id, name, since_version)
  CREATE UNIQUE INDEX lake_columns_live ON public.lake_columns USING btree (table_id, lower(name)) WHERE (until_version IS NULL)
table lake_files
  id uuid not null
  table_id uuid not null
  path text not null
  row_count bigint not null
  byte_count bigint not null
  min_key timestamp with time zone
  max_key timestamp with time zone
  from_version bigint not null
  to_version bigint
  created_at timestamp with time zone not null default now()
  retired_at timestamp with time zone
  constraint lake_files_byte_count_check CHECK ((byte_count > 0))
  constraint lake_files_check CHECK (((to_version IS NULL) OR (to_version > from_version)))
  constraint lake_files_row_count_check CHECK ((row_count > 0))
  constraint lake_files_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint lake_files_pkey PRIMARY KEY (id)
  constraint lake_files_path_key UNIQUE (path)
  CREATE INDEX lake_files_by_version ON public.lake_files USING btree (table_id, from_version)
  CREATE INDEX lake_files_live ON public.lake_files USING btree (table_id, min_key, max_key) WHERE (to_version IS NULL)
  CREATE INDEX lake_files_retired ON public.lake_files USING btree (retired_at) WHERE (to_version IS NOT NULL)
table lake_sources
  table_id uuid not null
  source bytea not null
  version bigint not null
  row_count bigint not null
  quarantined_count bigint not null default 0
  committed_at timestamp with time zone not null default now()
  constraint lake_sources_source_check CHECK ((length(source) = 10))
  constraint lake_sources_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint lake_sources_pkey PRIMARY KEY (table_id, source)
table lake_tables
  id uuid not null
  experiment_id uuid not null
  kind text not null
  identifier text not null
  name text
  version bigint not null default 0
  row_count bigint not null default 0
  created_by uuid
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint lake_tables_check CHECK (((kind = 'upload'::text) = (name IS NOT NULL)))
  constraint lake_tables_check1 CHECK (((kind <> 'upload'::text) OR ((name ~ '^[A-Za-z][A-Za-z0-9_]{0,62}$'::text) AND (lower(name) <> ALL (ARRAY['raw_data'::text, 'device'::text])))))
  constraint lake_tables_kind_check CHECK ((kind = ANY (ARRAY['raw_data'::text, 'device'::text, 'macro'::text, 'upload'::text, 'identity'::text, 'annotation'::text, 'metadata_record'::text, 'registry'::text, 'quarantine'::text])))
  constraint lake_tables_row_count_check CHECK ((row_count >= 0))
  constraint lake_tables_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint lake_tables_pkey PRIMARY KEY (id)
  constraint lake_tables_experiment_id_identifier_key UNIQUE (experiment_id, identifier)
  CREATE UNIQUE INDEX lake_tables_upload_name ON public.lake_tables USING btree (experiment_id, lower(name)) WHERE (kind = 'upload'::text)
table lake_versions
  table_id uuid not null
  version bigint not null
  row_count bigint not null
  cause text not null
  committed_at timestamp with time zone not null default now()
  constraint lake_versions_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint lake_versions_pkey PRIMARY KEY (table_id, version)
table locations
  id uuid not null
  experiment_id uuid not null
  name text not null
  latitude numeric(10,8) not null
  longitude numeric(11,8) not null
  country text
  region text
  municipality text
  postal_code text
  address_label text
  ordinal bigint not null generated as identity
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint locations_address_label_check CHECK ((length(address_label) <= 1000))
  constraint locations_country_check CHECK ((length(country) <= 100))
  constraint locations_latitude_check CHECK (((latitude >= ('-90'::integer)::numeric) AND (latitude <= (90)::numeric)))
  constraint locations_longitude_check CHECK (((longitude >= ('-180'::integer)::numeric) AND (longitude <= (180)::numeric)))
  constraint locations_municipality_check CHECK ((length(municipality) <= 100))
  constraint locations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint locations_postal_code_check CHECK ((length(postal_code) <= 20))
  constraint locations_region_check CHECK ((length(region) <= 100))
  constraint locations_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint locations_pkey PRIMARY KEY (id)
  CREATE INDEX locations_by_experiment ON public.locations USING btree (experiment_id, ordinal)
table macros
  id uuid not null
  type text not null default 'macro'::text
  constraint macros_type_check CHECK ((type = 'macro'::text))
  constraint macros_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint macros_pkey PRIMARY KEY (id)
table messages
  id uuid not null
  ordinal bigint not null generated as identity
  experiment_id uuid not null
  source bytea not null
  client_id text
  user_id uuid
  protocol_id text
  arrived_at timestamp with time zone not null default now()
  byte_count integer not null
  body bytea
  object_key text
  status text not null default 'pending'::text
  stored bigint not null default 0
  quarantined bigint not null default 0
  already_there bigint not null default 0
  reasons jsonb not null default '{}'::jsonb
  tries integer not null default 0
  handled_at timestamp with time zone
  constraint messages_byte_count_check CHECK ((byte_count >= 0))
  constraint messages_check CHECK ((num_nonnulls(body, object_key) = 1))
  constraint messages_source_check CHECK ((length(source) = 10))
  constraint messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'stored'::text, 'partial'::text, 'quarantined'::text])))
  constraint messages_pkey PRIMARY KEY (id)
  constraint messages_experiment_id_source_key UNIQUE (experiment_id, source)
  CREATE INDEX messages_pending ON public.messages USING btree (experiment_id, ordinal) WHERE (status = 'pending'::text)
  CREATE INDEX messages_set_aside ON public.messages USING btree (experiment_id, handled_at) WHERE (status = ANY (ARRAY['partial'::text, 'quarantined'::text]))
table organization_members
  id uuid not null
  organization_id uuid not null
  user_id uuid not null
  role text not null default 'member'::text
  is_owner boolean not null generated always as (('owner'::text = ANY (role_tokens(role_trimmed(role))))) stored
  is_admin boolean not null generated always as ((role_tokens(role_trimmed(role)) && ARRAY['owner'::text, 'admin'::text])) stored
  is_member boolean not null generated always as ((role_tokens(role_trimmed(role)) && ARRAY['owner'::text, 'admin'::text, 'member'::text])) stored
  created_at timestamp with time zone not null default now()
  constraint organization_members_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint organization_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint organization_members_pkey PRIMARY KEY (id)
  constraint organization_members_organization_id_user_id_key UNIQUE (organization_id, user_id)
  CREATE INDEX organization_members_by_user ON public.organization_members USING btree (user_id, organization_id) INCLUDE (is_admin, is_member)
  CREATE INDEX organization_members_owners ON public.organization_members USING btree (organization_id) WHERE is_owner
table organizations
  id uuid not null
  name text not null
  slug text not null
  personal_user_id uuid
  logo text
  metadata jsonb
  type text
  description text
  website text
  location text
  visibility text not null default 'private'::text
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint organizations_check CHECK (((personal_user_id IS NOT NULL) = starts_with(slug, 'personal-'::text)))
  constraint organizations_check1 CHECK (((personal_user_id IS NULL) OR (visibility = 'private'::text)))
  constraint organizations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint organizations_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND (length(slug) <= 255)))
  constraint organizations_type_check CHECK ((type = ANY (ARRAY['research_institute'::text, 'non_profit'::text, 'private_company'::text, 'government_agency'::text, 'university'::text])))
  constraint organizations_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'public'::text])))
  constraint organizations_website_check CHECK ((length(website) <= 255))
  constraint organizations_personal_user_id_fkey FOREIGN KEY (personal_user_id) REFERENCES users(id) ON DELETE RESTRICT
  constraint organizations_pkey PRIMARY KEY (id)
  constraint organizations_personal_user_id_key UNIQUE (personal_user_id)
  constraint organizations_slug_key UNIQUE (slug)
table profiles
  user_id uuid not null
  first_name text not null
  last_name text not null
  bio text
  avatar_url text
  activated boolean not null default true
  whats_new_seen_at timestamp with time zone
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint profiles_avatar_url_check CHECK ((length(avatar_url) <= 500))
  constraint profiles_first_name_check CHECK (((length(first_name) >= 1) AND (length(first_name) <= 100)))
  constraint profiles_last_name_check CHECK (((length(last_name) >= 1) AND (length(last_name) <= 100)))
  constraint profiles_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint profiles_pkey PRIMARY KEY (user_id)
  CREATE INDEX profiles_name_trigram ON public.profiles USING gin ((((first_name || ' '::text) || last_name)) gin_trgm_ops)
table protocols
  id uuid not null
  type text not null default 'protocol'::text
  constraint protocols_type_check CHECK ((type = 'protocol'::text))
  constraint protocols_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint protocols_pkey PRIMARY KEY (id)
table resources
  id uuid not null
  type text not null
  organization_id uuid not null
  visibility text not null default 'private'::text
  public_from timestamp with time zone
  name text not null
  description text
  created_by uuid not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  version bigint not null default 1
  constraint resources_check CHECK (((public_from IS NULL) OR (type = 'experiment'::text)))
  constraint resources_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint resources_type_check CHECK ((type = ANY (ARRAY['experiment'::text, 'protocol'::text, 'macro'::text, 'workbook'::text, 'device'::text, 'device_group'::text])))
  constraint resources_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'public'::text])))
  constraint resources_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE RESTRICT
  constraint resources_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE RESTRICT
  constraint resources_pkey PRIMARY KEY (id)
  constraint resources_id_type_key UNIQUE (id, type)
  CREATE INDEX resources_by_creator ON public.resources USING btree (created_by, type)
  CREATE INDEX resources_by_organization ON public.resources USING btree (organization_id, type, updated_at DESC, id DESC)
  CREATE INDEX resources_embargoed ON public.resources USING btree (type, public_from) WHERE ((public_from IS NOT NULL) AND (visibility = 'private'::text))
  CREATE INDEX resources_name_trigram ON public.resources USING gin (name gin_trgm_ops)
  CREATE INDEX resources_public ON public.resources USING btree (type, updated_at DESC, id DESC) WHERE (visibility = 'public'::text)
table team_members
  id uuid not null
  team_id uuid not null
  organization_id uuid not null
  user_id uuid not null
  created_at timestamp with time zone not null default now()
  constraint team_members_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES organization_members(organization_id, user_id) ON DELETE CASCADE
  constraint team_members_team_id_organization_id_fkey FOREIGN KEY (team_id, organization_id) REFERENCES teams(id, organization_id) ON DELETE CASCADE
  constraint team_members_pkey PRIMARY KEY (id)
  constraint team_members_team_id_user_id_key UNIQUE (team_id, user_id)
  CREATE INDEX team_members_by_user ON public.team_members USING btree (user_id, team_id)
table teams
  id uuid not null
  organization_id uuid not null
  name text not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint teams_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint teams_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint teams_pkey PRIMARY KEY (id)
  constraint teams_id_organization_id_key UNIQUE (id, organization_id)
  CREATE INDEX teams_by_organization ON public.teams USING btree (organization_id, name)
table upload_files
  upload_id uuid not null
  path text not null
  ordinal integer not null
  object_key text
  sha256 bytea
  byte_count bigint
  status text not null default 'pending'::text
  rows_in bigint not null default 0
  stored bigint not null default 0
  quarantined bigint not null default 0
  already_there bigint not null default 0
  reason text
  message text
  columns jsonb not null default '[]'::jsonb
  completed_at timestamp with time zone
  constraint upload_files_byte_count_check CHECK ((byte_count >= 0))
  constraint upload_files_check CHECK ((rows_in = ((stored + quarantined) + already_there)))
  constraint upload_files_path_check CHECK (((length(path) >= 1) AND (length(path) <= 256)))
  constraint upload_files_sha256_check CHECK ((length(sha256) = 32))
  constraint upload_files_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'partial'::text, 'failed'::text])))
  constraint upload_files_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES uploads(id) ON DELETE CASCADE
  constraint upload_files_pkey PRIMARY KEY (upload_id, path)
  constraint upload_files_upload_id_ordinal_key UNIQUE (upload_id, ordinal)
  CREATE INDEX upload_files_by_object ON public.upload_files USING btree (object_key)
table uploads
  id uuid not null
  experiment_id uuid not null
  table_id uuid
  source_kind text not null
  status text not null default 'pending'::text
  file_count integer not null default 0
  rows_in bigint not null default 0
  stored bigint not null default 0
  quarantined bigint not null default 0
  already_there bigint not null default 0
  error_message text
  created_by uuid
  created_at timestamp with time zone not null default now()
  received_at timestamp with time zone
  started_at timestamp with time zone
  completed_at timestamp with time zone
  heartbeat_at timestamp with time zone not null default now()
  constraint uploads_check CHECK ((rows_in = ((stored + quarantined) + already_there)))
  constraint uploads_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'partial'::text, 'failed'::text]))))
  constraint uploads_file_count_check CHECK ((file_count >= 0))
  constraint uploads_source_kind_check CHECK ((source_kind = ANY (ARRAY['ambyte'::text, 'csv'::text, 'tsv'::text, 'parquet'::text, 'json'::text, 'ndjson'::text])))
  constraint uploads_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'partial'::text, 'failed'::text])))
  constraint uploads_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint uploads_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE SET NULL
  constraint uploads_pkey PRIMARY KEY (id)
  CREATE INDEX uploads_by_experiment ON public.uploads USING btree (experiment_id, created_at DESC, id DESC)
  CREATE INDEX uploads_by_table ON public.uploads USING btree (table_id, created_at DESC)
  CREATE INDEX uploads_unfinished ON public.uploads USING btree (heartbeat_at) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]))
table users
  id uuid not null
  email text
  email_verified boolean not null default false
  name text not null default ''::text
  image text
  registered boolean not null default false
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  deleted_at timestamp with time zone
  constraint users_check CHECK (((deleted_at IS NULL) OR ((email IS NULL) AND (NOT email_verified) AND (image IS NULL))))
  constraint users_email_check CHECK (((email = canonical_email(email)) AND ((length(email) >= 3) AND (length(email) <= 320))))
  constraint users_pkey PRIMARY KEY (id)
  constraint users_email_key UNIQUE (email)
  CREATE INDEX users_email_trigram ON public.users USING gin (email gin_trgm_ops)
table workbooks
  id uuid not null
  type text not null default 'workbook'::text
  constraint workbooks_type_check CHECK ((type = 'workbook'::text))
  constraint workbooks_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint workbooks_pkey PRIMARY KEY (id)
CREATE OR REPLACE FUNCTION public.canonical_email(address text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN lower(TRIM(BOTH FROM address))
CREATE OR REPLACE FUNCTION public.collaborator_count(resource uuid)
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (SELECT ((((count(*) FILTER (WHERE m.is_owner) + max(CASE WHEN (m.is_admin AND (NOT m.is_owner) AND (g.id IS NULL)) THEN 1 ELSE 0 END)) + max(CASE WHEN (m.is_member AND (NOT m.is_admin) AND (g.id IS NULL)) THEN 1 ELSE 0 END)) + (SELECT count(*) AS count FROM grants other WHERE ((other.resource_id = collaborator_count.resource) AND (NOT (EXISTS (SELECT FROM organization_members o WHERE ((o.organization_id = r.organization_id) AND (o.user_id = other.user_id) AND o.is_owner))))))))::integer AS int4 FROM (((resources r JOIN organization_members m ON ((m.organization_id = r.organization_id))) JOIN users u ON (((u.id = m.user_id) AND (u.deleted_at IS NULL)))) LEFT JOIN grants g ON (((g.resource_id = r.id) AND (g.user_id = m.user_id)))) WHERE (r.id = collaborator_count.resource) GROUP BY r.id)
CREATE OR REPLACE FUNCTION public.decide(caller uuid, asked_type text, resource uuid, action text)
 RETURNS TABLE(organization_id uuid, source text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select r.organization_id, (
    select a.source
    from effective_access a
    where a.resource_id = r.id and a.user_id = caller
      and case action when 'read' then a.can_read when 'contribute' then a.can_contribute when 'update' then a.can_update
                      when 'share' then a.can_share when 'manage' then a.can_manage else false end
    order by a.rank
    limit 1)
  from resources r
  where r.id = resource and r.type = asked_type
$function$
CREATE OR REPLACE FUNCTION public.role_tokens(role text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN regexp_split_to_array(role, '[ \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*,[ \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*'::text)
CREATE OR REPLACE FUNCTION public.role_trimmed(role text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN regexp_replace(role, '^[ \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+|[ \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$'::text, ''::text, 'g'::text)
CREATE OR REPLACE FUNCTION public.window_shifted(counts integer[], seconds bigint)
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (seconds <= 0) THEN counts WHEN (seconds >= 61) THEN array_fill(0, ARRAY[61]) ELSE (array_fill(0, ARRAY[(seconds)::integer]) || (counts)[1:(61 - (seconds)::integer)]) END
CREATE OR REPLACE FUNCTION public.window_total(counts integer[])
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT sum(count.count) AS sum FROM unnest(window_total.counts) count(count))
view effective_access as
 SELECT user_id,
    resource_id,
    resource_type,
    organization_id,
    rank,
    source,
    (full_control OR reads) AS can_read,
    (full_control OR (reads AND (resource_type = 'experiment'::text) AND (rank < 5))) AS can_contribute,
    full_control AS can_update,
    full_control AS can_share,
    full_control AS can_manage
   FROM ( SELECT m.user_id,
            r.id AS resource_id,
            r.type AS resource_type,
            r.organization_id,
            1 AS rank,
            'organization-role'::text AS source,
            m.is_admin AS full_control,
            m.is_member AS reads
           FROM (organization_members m
             JOIN resources r ON ((r.organization_id = m.organization_id)))
          WHERE m.is_member
        UNION ALL
         SELECT g.user_id,
            r.id,
            r.type,
            r.organization_id,
            2,
            'user-grant'::text,
            g.confers_all,
            g.confers_read
           FROM (grants g
             JOIN resources r ON ((r.id = g.resource_id)))
          WHERE ((g.user_id IS NOT NULL) AND g.confers_read)
        UNION ALL
         SELECT t.user_id,
            r.id,
            r.type,
            r.organization_id,
            3,
            'team-grant'::text,
            g.confers_all,
            g.confers_read
           FROM ((team_members t
             JOIN grants g ON ((g.team_id = t.team_id)))
             JOIN resources r ON ((r.id = g.resource_id)))
          WHERE g.confers_read
        UNION ALL
         SELECT m.user_id,
            r.id,
            r.type,
            r.organization_id,
            4,
            'organization-grant'::text,
            g.confers_all,
            g.confers_read
           FROM ((organization_members m
             JOIN grants g ON ((g.organization_id = m.organization_id)))
             JOIN resources r ON ((r.id = g.resource_id)))
          WHERE g.confers_read
        UNION ALL
         SELECT u.id,
            r.id,
            r.type,
            r.organization_id,
            5,
            'public'::text,
            false,
            true
           FROM (resources r
             CROSS JOIN users u)
          WHERE ((r.visibility = 'public'::text) OR (r.public_from <= now()))) source;
view people as
 SELECT u.id AS user_id,
        CASE
            WHEN (u.deleted_at IS NOT NULL) THEN 'Deleted'::text
            WHEN p.activated THEN p.first_name
            ELSE 'Unknown'::text
        END AS first_name,
        CASE
            WHEN (p.activated AND (u.deleted_at IS NULL)) THEN p.last_name
            ELSE 'User'::text
        END AS last_name,
        CASE
            WHEN (p.activated AND (u.deleted_at IS NULL)) THEN p.avatar_url
            ELSE NULL::text
        END AS avatar_url,
        CASE
            WHEN (p.activated AND (u.deleted_at IS NULL)) THEN u.email
            ELSE NULL::text
        END AS email,
    (COALESCE(p.activated, false) AND (u.deleted_at IS NULL)) AS is_active
   FROM (users u
     LEFT JOIN profiles p ON ((p.user_id = u.id)));
