-- Printed from the catalogue by npm run db:schema; do not edit.
table annotators
  experiment_id uuid not null
  user_id uuid not null
  is_named boolean not null default false
  created_at timestamp with time zone not null default now()
  constraint annotators_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint annotators_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint annotators_pkey PRIMARY KEY (experiment_id, user_id)
  CREATE INDEX annotators_by_user ON public.annotators USING btree (user_id)
unlogged table api_key_windows
  key_id uuid not null
  second bigint not null
  accepted bigint[] not null
  constraint api_key_windows_accepted_check CHECK ((array_length(accepted, 1) = 62))
  constraint api_key_windows_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE
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
  CREATE INDEX audit_events_by_action ON public.audit_events USING btree (organization_id, action, at DESC)
  CREATE INDEX audit_events_by_actor ON public.audit_events USING btree (actor_id, at DESC)
  CREATE INDEX audit_events_by_organization ON public.audit_events USING btree (organization_id, at DESC)
  CREATE INDEX audit_events_by_resource ON public.audit_events USING btree (resource_id, at DESC)
  CREATE INDEX audit_events_by_subject ON public.audit_events USING btree (subject_id, at DESC)
table authority
  is_only boolean not null default true
  sealed text not null
  made_at timestamp with time zone not null default now()
  constraint authority_is_only_check CHECK (is_only)
  constraint authority_pkey PRIMARY KEY (is_only)
table brokers
  name text not null
  alive_at timestamp with time zone not null
  constraint brokers_pkey PRIMARY KEY (name)
table budgets
  kind text not null
  key bytea not null
  used integer not null
  since timestamp with time zone not null default now()
  ends_at timestamp with time zone not null
  constraint budgets_key_check CHECK ((length(key) = 32))
  constraint budgets_pkey PRIMARY KEY (kind, key)
  CREATE INDEX budgets_by_end ON public.budgets USING btree (ends_at)
table ceremonies
  id uuid not null
  kind text not null
  expires_at timestamp with time zone not null
  constraint ceremonies_kind_check CHECK ((kind = ANY (ARRAY['passkey-registration'::text, 'passkey-authentication'::text, 'provider'::text])))
  constraint ceremonies_pkey PRIMARY KEY (id)
  CREATE INDEX ceremonies_by_expiry ON public.ceremonies USING btree (expires_at)
unlogged table change_epoch
  one boolean not null default true
  epoch text not null default "left"(md5((gen_random_uuid())::text), 8)
  constraint change_epoch_one_check CHECK (one)
  constraint change_epoch_pkey PRIMARY KEY (one)
table changes
  xid xid8 not null default pg_current_xact_id()
  n bigint not null generated as identity
  experiment_id uuid not null
  kind text not null
  audience text not null
  data jsonb not null
  at timestamp with time zone not null default now()
  constraint changes_audience_check CHECK ((audience = ANY (ARRAY['read'::text, 'contribute'::text, 'manage'::text, 'related'::text, 'device'::text])))
  constraint changes_kind_check CHECK ((kind = ANY (ARRAY['table'::text, 'upload'::text, 'export'::text, 'macroRun'::text, 'device'::text])))
  constraint changes_pkey PRIMARY KEY (experiment_id, xid, n)
  CREATE INDEX changes_by_age ON public.changes USING btree (at)
table code_versions
  resource_id uuid not null
  version integer not null
  code text not null
  kind text not null
  created_by uuid
  created_at timestamp with time zone not null default now()
  constraint code_versions_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint code_versions_pkey PRIMARY KEY (resource_id, version)
table column_changes
  id uuid not null
  experiment_id uuid not null
  table_id uuid not null
  column_name text not null
  new_name text
  new_type text
  reading jsonb not null default '{}'::jsonb
  status text not null default 'queued'::text
  total_rows bigint not null default 0
  done_rows bigint not null default 0
  tries integer not null default 0
  report jsonb
  error_message text
  created_by uuid
  created_at timestamp with time zone not null default now()
  started_at timestamp with time zone
  completed_at timestamp with time zone
  constraint column_changes_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
  constraint column_changes_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint column_changes_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint column_changes_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint column_changes_pkey PRIMARY KEY (id)
  CREATE INDEX column_changes_by_author ON public.column_changes USING btree (created_by)
  CREATE INDEX column_changes_by_experiment ON public.column_changes USING btree (experiment_id)
  CREATE INDEX column_changes_by_table ON public.column_changes USING btree (table_id, created_at DESC)
  CREATE UNIQUE INDEX column_changes_open ON public.column_changes USING btree (table_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]))
table contributors
  experiment_id uuid not null
  user_id uuid not null
  constraint contributors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint contributors_pkey PRIMARY KEY (experiment_id, user_id)
  CREATE INDEX contributors_by_user ON public.contributors USING btree (user_id)
table dashboards
  id uuid not null
  experiment_id uuid not null
  name text not null
  description text
  layout jsonb not null
  widgets jsonb not null default '[]'::jsonb
  version bigint not null default 1
  created_by uuid not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint dashboards_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint dashboards_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE RESTRICT
  constraint dashboards_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint dashboards_pkey PRIMARY KEY (id)
  CREATE INDEX dashboards_by_experiment ON public.dashboards USING btree (experiment_id, created_at DESC, id DESC)
table device_group_members
  group_id uuid not null
  device_id uuid not null
  added_by uuid
  added_at timestamp with time zone not null default now()
  constraint device_group_members_added_by_fkey FOREIGN KEY (added_by) REFERENCES users(id) ON DELETE SET NULL
  constraint device_group_members_device_id_fkey FOREIGN KEY (device_id) REFERENCES devices(id) ON DELETE CASCADE
  constraint device_group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES device_groups(id) ON DELETE CASCADE
  constraint device_group_members_pkey PRIMARY KEY (group_id, device_id)
  CREATE INDEX device_group_members_by_device ON public.device_group_members USING btree (device_id)
table device_groups
  id uuid not null
  type text not null default 'device_group'::text
  constraint device_groups_type_check CHECK ((type = 'device_group'::text))
  constraint device_groups_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint device_groups_pkey PRIMARY KEY (id)
table device_presence
  thing_name text not null
  connected boolean not null
  session text
  broker text not null
  last_seen_at timestamp with time zone not null
  constraint device_presence_pkey PRIMARY KEY (thing_name)
  CREATE INDEX device_presence_live ON public.device_presence USING btree (broker) WHERE connected
table devices
  id uuid not null
  type text not null default 'device'::text
  thing_name text not null
  thing_arn text not null
  serial_number text not null
  given_name text
  device_type text not null
  state text not null
  certificate_id text
  certificate_arn text
  sequence jsonb
  sequence_at timestamp with time zone
  needs_rebind boolean not null default false
  begun_at timestamp with time zone not null default '-infinity'::timestamp with time zone
  constraint devices_check CHECK (((device_type = 'mobile'::text) = (state = 'phone'::text)))
  constraint devices_check1 CHECK (((certificate_id IS NULL) = (certificate_arn IS NULL)))
  constraint devices_device_type_check CHECK ((device_type = ANY (ARRAY['multispeq'::text, 'ambyte'::text, 'minipar'::text, 'generic'::text, 'ambit'::text, 'mobile'::text])))
  constraint devices_given_name_check CHECK (((length(given_name) >= 1) AND (length(given_name) <= 255)))
  constraint devices_serial_number_check CHECK (((length(serial_number) >= 1) AND (length(serial_number) <= 255)))
  constraint devices_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'rotating'::text, 'revoked'::text, 'phone'::text])))
  constraint devices_thing_name_check CHECK (((length(thing_name) >= 1) AND (length(thing_name) <= 128)))
  constraint devices_type_check CHECK ((type = 'device'::text))
  constraint devices_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint devices_pkey PRIMARY KEY (id)
  constraint devices_certificate_id_key UNIQUE (certificate_id)
  constraint devices_serial_number UNIQUE (device_type, serial_number)
  constraint devices_thing_name_key UNIQUE (thing_name)
  CREATE INDEX devices_to_rebind ON public.devices USING btree (id) WHERE needs_rebind
  CREATE INDEX devices_unfinished ON public.devices USING btree (id) WHERE (sequence IS NOT NULL)
table ended_certificates
  certificate_id text not null
  reason text not null
  ended_at timestamp with time zone not null default now()
  constraint ended_certificates_reason_check CHECK ((reason = ANY (ARRAY['rotated'::text, 'revoked'::text, 'removed'::text])))
  constraint ended_certificates_pkey PRIMARY KEY (certificate_id)
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
table experiment_devices
  experiment_id uuid not null
  device_id uuid not null
  added_by uuid
  added_at timestamp with time zone not null default now()
  constraint experiment_devices_added_by_fkey FOREIGN KEY (added_by) REFERENCES users(id) ON DELETE SET NULL
  constraint experiment_devices_device_id_fkey FOREIGN KEY (device_id) REFERENCES devices(id) ON DELETE CASCADE
  constraint experiment_devices_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint experiment_devices_pkey PRIMARY KEY (experiment_id, device_id)
  CREATE INDEX experiment_devices_by_device ON public.experiment_devices USING btree (device_id, added_at DESC)
table experiment_join_requests
  id uuid not null
  experiment_id uuid not null
  user_id uuid not null
  message text
  status text not null default 'pending'::text
  decided_by uuid
  decided_at timestamp with time zone
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint experiment_join_requests_message_check CHECK ((length(message) <= 250))
  constraint experiment_join_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'cancelled'::text])))
  constraint experiment_join_requests_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES users(id) ON DELETE SET NULL
  constraint experiment_join_requests_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint experiment_join_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint experiment_join_requests_pkey PRIMARY KEY (id)
  CREATE INDEX experiment_join_requests_by_user ON public.experiment_join_requests USING btree (user_id)
  CREATE UNIQUE INDEX experiment_join_requests_one_pending ON public.experiment_join_requests USING btree (experiment_id, user_id) WHERE (status = 'pending'::text)
table experiment_macros
  experiment_id uuid not null
  macro_id uuid not null
  runs_on_new boolean not null default false
  allowed_by uuid
  created_at timestamp with time zone not null default now()
  constraint experiment_macros_allowed_by_fkey FOREIGN KEY (allowed_by) REFERENCES users(id) ON DELETE SET NULL
  constraint experiment_macros_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint experiment_macros_macro_id_fkey FOREIGN KEY (macro_id) REFERENCES macros(id) ON DELETE CASCADE
  constraint experiment_macros_pkey PRIMARY KEY (experiment_id, macro_id)
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
  constraint experiments_workbook_id_fkey FOREIGN KEY (workbook_id) REFERENCES workbooks(id) ON DELETE SET NULL
  constraint experiments_workbook_version_id_fkey FOREIGN KEY (workbook_version_id) REFERENCES workbook_versions(id) ON DELETE RESTRICT
  constraint experiments_pkey PRIMARY KEY (id)
  CREATE INDEX experiments_at ON public.experiments USING hash (id)
  CREATE INDEX experiments_by_workbook ON public.experiments USING btree (workbook_id) WHERE (workbook_id IS NOT NULL)
  CREATE INDEX experiments_by_workbook_version ON public.experiments USING btree (workbook_version_id) WHERE (workbook_version_id IS NOT NULL)
table exports
  id uuid not null
  experiment_id uuid not null
  table_identifier text not null
  table_name text not null
  table_version bigint not null
  format text not null
  query jsonb not null default '{}'::jsonb
  raw boolean not null default false
  names text not null
  status text not null default 'queued'::text
  reason text
  attempt integer not null default 0
  errors integer not null default 0
  object_key text
  sha256 bytea
  file_name text
  row_count bigint
  file_size bigint
  rows_done bigint not null default 0
  bytes_done bigint not null default 0
  rows_total bigint
  created_by uuid
  created_at timestamp with time zone not null default now()
  started_at timestamp with time zone
  completed_at timestamp with time zone
  heartbeat_at timestamp with time zone not null default now()
  queued_at timestamp with time zone not null default now()
  expires_at timestamp with time zone
  expired_at timestamp with time zone
  percent_done double precision not null default 0
  constraint exports_check CHECK (((status = 'completed'::text) = ((object_key IS NOT NULL) AND (file_size IS NOT NULL))))
  constraint exports_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]))))
  constraint exports_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'ndjson'::text, 'json'::text, 'parquet'::text, 'arrow'::text, 'xlsx'::text])))
  constraint exports_names_check CHECK ((names = ANY (ARRAY['pseudonyms'::text, 'real'::text, 'real_by_manager'::text])))
  constraint exports_percent_done_check CHECK (((percent_done >= (0)::double precision) AND (percent_done <= (100)::double precision)))
  constraint exports_sha256_check CHECK ((length(sha256) = 32))
  constraint exports_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
  constraint exports_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint exports_pkey PRIMARY KEY (id)
  CREATE INDEX exports_by_creator ON public.exports USING btree (created_by, created_at) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]))
  CREATE INDEX exports_by_table ON public.exports USING btree (experiment_id, table_identifier, created_at DESC, id DESC)
  CREATE INDEX exports_expiring ON public.exports USING btree (expires_at) WHERE ((status = 'completed'::text) AND (expired_at IS NULL))
  CREATE INDEX exports_kept ON public.exports USING btree (created_by) WHERE ((status = 'completed'::text) AND (expired_at IS NULL))
  CREATE INDEX exports_unfinished ON public.exports USING btree (queued_at) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]))
table firmware_releases
  repository text not null
  etag text
  releases jsonb not null
  fetched_at timestamp with time zone not null
  retry_at timestamp with time zone not null default '-infinity'::timestamp with time zone
  constraint firmware_releases_pkey PRIMARY KEY (repository)
table flows
  id uuid not null
  experiment_id uuid not null
  graph jsonb not null
  version bigint not null default 1
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint flows_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint flows_pkey PRIMARY KEY (id)
  constraint flows_experiment_id_key UNIQUE (experiment_id)
table former_devices
  thing_name text not null
  organization_id uuid not null
  constraint former_devices_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint former_devices_pkey PRIMARY KEY (thing_name)
  CREATE INDEX former_devices_by_organization ON public.former_devices USING btree (organization_id)
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
  CREATE INDEX grants_at ON public.grants USING hash (resource_id)
  CREATE UNIQUE INDEX grants_one_per_organization ON public.grants USING btree (organization_id, resource_id) INCLUDE (confers_all, confers_read, resource_type) WHERE (organization_id IS NOT NULL)
  CREATE UNIQUE INDEX grants_one_per_team ON public.grants USING btree (team_id, resource_id) INCLUDE (confers_all, confers_read, resource_type) WHERE (team_id IS NOT NULL)
  CREATE UNIQUE INDEX grants_one_per_user ON public.grants USING btree (user_id, resource_id) INCLUDE (confers_all, confers_read, resource_type) WHERE (user_id IS NOT NULL)
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
  claim uuid not null default gen_random_uuid()
  constraint idempotency_keys_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES users(id) ON DELETE CASCADE
  constraint idempotency_keys_pkey PRIMARY KEY (caller_id, method, path, key)
  CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at)
table identity_changes
  user_id uuid not null
  changed_at timestamp with time zone not null default now()
  leased_until timestamp with time zone not null default '-infinity'::timestamp with time zone
  refreshed_at timestamp with time zone
  constraint identity_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint identity_changes_pkey PRIMARY KEY (user_id)
  CREATE INDEX identity_changes_by_lease ON public.identity_changes USING btree (leased_until)
table inbox
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
  status text not null default 'stored'::text
  stored bigint not null default 1
  quarantined bigint not null default 0
  already_there bigint not null default 0
  reasons jsonb not null default '{}'::jsonb
  handled_at timestamp with time zone
  constraint inbox_status_check CHECK ((status = ANY (ARRAY['stored'::text, 'partial'::text, 'quarantined'::text])))
  constraint messages_byte_count_check CHECK ((byte_count >= 0))
  constraint messages_check CHECK ((num_nonnulls(body, object_key) = 1))
  constraint messages_source_check CHECK ((length(source) = 10))
  constraint inbox_pkey PRIMARY KEY (id)
  constraint messages_experiment_id_source_key UNIQUE (experiment_id, source)
  CREATE INDEX inbox_set_aside ON public.inbox USING btree (experiment_id, handled_at) WHERE (status <> 'stored'::text)
table invitations
  id uuid not null
  resource_type text not null
  resource_id uuid
  email text not null
  tier text not null default 'viewer'::text
  status text not null default 'pending'::text
  invited_by uuid not null
  expires_at timestamp with time zone not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint invitations_check CHECK (((resource_type = 'platform'::text) = (resource_id IS NULL)))
  constraint invitations_email_check CHECK (((email = canonical_email(email)) AND ((length(email) >= 3) AND (length(email) <= 320))))
  constraint invitations_resource_type_check CHECK ((resource_type = ANY (ARRAY['platform'::text, 'experiment'::text, 'macro'::text, 'protocol'::text, 'workbook'::text, 'device'::text])))
  constraint invitations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'revoked'::text])))
  constraint invitations_tier_check CHECK ((tier = ANY (ARRAY['admin'::text, 'viewer'::text])))
  constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE CASCADE
  constraint invitations_resource_id_resource_type_fkey FOREIGN KEY (resource_id, resource_type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint invitations_pkey PRIMARY KEY (id)
  CREATE INDEX invitations_by_email ON public.invitations USING btree (email)
  CREATE INDEX invitations_by_inviter ON public.invitations USING btree (invited_by, created_at DESC)
  CREATE UNIQUE INDEX invitations_one_pending ON public.invitations USING btree (resource_id, email) WHERE ((status = 'pending'::text) AND (resource_id IS NOT NULL))
  CREATE UNIQUE INDEX invitations_one_platform_pending ON public.invitations USING btree (invited_by, email) WHERE ((status = 'pending'::text) AND (resource_id IS NULL))
table known_browsers
  user_id uuid not null
  browser bytea not null
  last_used_at timestamp with time zone not null default now()
  constraint known_browsers_browser_check CHECK ((length(browser) = 32))
  constraint known_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint known_browsers_pkey PRIMARY KEY (user_id, browser)
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
table lake_file_ranges
  file_id uuid not null
  name text not null
  stored_as text not null
  low double precision
  high double precision
  nulls bigint not null
  constraint lake_file_ranges_check CHECK (((low IS NULL) = (high IS NULL)))
  constraint lake_file_ranges_nulls_check CHECK ((nulls >= 0))
  constraint lake_file_ranges_stored_as_check CHECK ((stored_as = ANY (ARRAY['int32'::text, 'int64'::text, 'double'::text])))
  constraint lake_file_ranges_file_id_fkey FOREIGN KEY (file_id) REFERENCES lake_files(id) ON DELETE CASCADE
  constraint lake_file_ranges_pkey PRIMARY KEY (file_id, name)
table lake_file_values
  file_id uuid not null
  name text not null
  type text not null
  counts jsonb not null
  nulls bigint not null
  constraint lake_file_values_nulls_check CHECK ((nulls >= 0))
  constraint lake_file_values_file_id_fkey FOREIGN KEY (file_id) REFERENCES lake_files(id) ON DELETE CASCADE
  constraint lake_file_values_pkey PRIMARY KEY (file_id, name)
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
  min_id text
  max_id text
  null_keys bigint
  values_noted boolean not null default false
  sha256 bytea
  constraint lake_files_byte_count_check CHECK ((byte_count > 0))
  constraint lake_files_check CHECK (((to_version IS NULL) OR (to_version > from_version)))
  constraint lake_files_check1 CHECK (((null_keys >= 0) AND (null_keys <= row_count)))
  constraint lake_files_row_count_check CHECK ((row_count > 0))
  constraint lake_files_sha256_check CHECK ((octet_length(sha256) = 32))
  constraint lake_files_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint lake_files_pkey PRIMARY KEY (id)
  constraint lake_files_path_key UNIQUE (path)
  CREATE INDEX lake_files_by_version ON public.lake_files USING btree (table_id, from_version)
  CREATE INDEX lake_files_live ON public.lake_files USING btree (table_id, min_key, max_key) WHERE (to_version IS NULL)
  CREATE INDEX lake_files_not_noted ON public.lake_files USING btree (table_id, row_count) WHERE ((to_version IS NULL) AND (NOT values_noted))
  CREATE INDEX lake_files_retired ON public.lake_files USING btree (retired_at) WHERE (to_version IS NOT NULL)
table lake_log
  table_id uuid not null
  version bigint not null
  entry text not null
  state jsonb
  created_at timestamp with time zone not null default now()
  constraint lake_log_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE CASCADE
  constraint lake_log_pkey PRIMARY KEY (table_id, version)
table lake_place
  is_only boolean not null default true
  place text not null
  noted_at timestamp with time zone not null default now()
  lake_id text
  constraint lake_place_is_only_check CHECK (is_only)
  constraint lake_place_place_check CHECK (((place = 'folder'::text) OR (place ~~ 's3://%'::text)))
  constraint lake_place_pkey PRIMARY KEY (is_only)
table lake_sources
  table_id uuid not null
  source bytea not null
  version bigint not null
  row_count bigint not null
  quarantined_count bigint not null default 0
  committed_at timestamp with time zone not null default now()
  origin uuid
  pipeline_version text
  constraint lake_sources_source_check CHECK ((length(source) = 10))
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
  log_state jsonb
  published_version bigint
  log_from bigint
  constraint lake_tables_check CHECK (((kind = 'upload'::text) = (name IS NOT NULL)))
  constraint lake_tables_check1 CHECK (((kind <> 'upload'::text) OR ((name ~ '^[A-Za-z][A-Za-z0-9_]{0,62}$'::text) AND (lower(name) <> ALL (ARRAY['raw_data'::text, 'device'::text])))))
  constraint lake_tables_check2 CHECK ((published_version <= version))
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
table macro_protocols
  macro_id uuid not null
  protocol_id uuid not null
  added_by uuid
  added_at timestamp with time zone not null default now()
  constraint macro_protocols_added_by_fkey FOREIGN KEY (added_by) REFERENCES users(id) ON DELETE SET NULL
  constraint macro_protocols_macro_id_fkey FOREIGN KEY (macro_id) REFERENCES macros(id) ON DELETE CASCADE
  constraint macro_protocols_protocol_id_fkey FOREIGN KEY (protocol_id) REFERENCES protocols(id) ON DELETE CASCADE
  constraint macro_protocols_pkey PRIMARY KEY (macro_id, protocol_id)
  CREATE INDEX macro_protocols_by_protocol ON public.macro_protocols USING btree (protocol_id)
table macro_reprocesses
  id uuid not null
  experiment_id uuid not null
  macro_id uuid not null
  code_version integer not null
  include_delivered boolean not null default false
  status text not null default 'queued'::text
  total_rows bigint not null default 0
  done_rows bigint not null default 0
  failed_rows bigint not null default 0
  created_by uuid
  created_at timestamp with time zone not null default now()
  started_at timestamp with time zone
  completed_at timestamp with time zone
  scope text not null default 'naming'::text
  filters text
  tries integer not null default 0
  next_at timestamp with time zone not null default now()
  note text
  constraint macro_reprocesses_scope_check CHECK ((scope = ANY (ARRAY['naming'::text, 'matching'::text])))
  constraint macro_reprocesses_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text])))
  constraint macro_reprocesses_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint macro_reprocesses_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint macro_reprocesses_pkey PRIMARY KEY (id)
  CREATE INDEX macro_reprocesses_by_macro ON public.macro_reprocesses USING btree (experiment_id, macro_id, created_at DESC)
  CREATE UNIQUE INDEX macro_reprocesses_open ON public.macro_reprocesses USING btree (experiment_id, macro_id) WHERE (status <> 'completed'::text)
table macro_work
  id uuid not null
  experiment_id uuid not null
  macro_id uuid not null
  workbook_version_id text
  reprocess_id uuid
  row_ids text[] not null
  from_at timestamp with time zone not null
  to_at timestamp with time zone not null
  tries integer not null default 0
  next_at timestamp with time zone not null default now()
  created_at timestamp with time zone not null default now()
  sender_id uuid
  constraint macro_work_row_ids_check CHECK ((cardinality(row_ids) > 0))
  constraint macro_work_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint macro_work_reprocess_id_fkey FOREIGN KEY (reprocess_id) REFERENCES macro_reprocesses(id) ON DELETE CASCADE
  constraint macro_work_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES users(id) ON DELETE SET NULL
  constraint macro_work_pkey PRIMARY KEY (id)
  CREATE INDEX macro_work_by_reprocess ON public.macro_work USING btree (reprocess_id) WHERE (reprocess_id IS NOT NULL)
  CREATE INDEX macro_work_due ON public.macro_work USING btree (experiment_id, next_at)
  CREATE INDEX macro_work_sender ON public.macro_work USING btree (sender_id)
table macros
  id uuid not null
  type text not null default 'macro'::text
  code text not null default ''::text
  code_version integer not null default 1
  language text not null default 'python'::text
  code_digest bytea not null generated always as (code_digest(code, language)) stored
  filename text not null generated always as (macro_filename(id)) stored
  forked_from uuid
  constraint macros_code_version_check CHECK ((code_version >= 1))
  constraint macros_language_check CHECK ((language = ANY (ARRAY['python'::text, 'r'::text, 'javascript'::text])))
  constraint macros_type_check CHECK ((type = 'macro'::text))
  constraint macros_forked_from_fkey FOREIGN KEY (forked_from) REFERENCES macros(id) ON DELETE SET NULL
  constraint macros_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint macros_pkey PRIMARY KEY (id)
  constraint macros_filename_key UNIQUE (filename)
  CREATE INDEX macros_by_source ON public.macros USING btree (forked_from) WHERE (forked_from IS NOT NULL)
table measuring_devices
  experiment_id uuid not null
  client_id text not null
  constraint measuring_devices_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint measuring_devices_pkey PRIMARY KEY (experiment_id, client_id)
  CREATE INDEX measuring_devices_by_client ON public.measuring_devices USING btree (client_id)
table message_days
  client_id text not null
  day timestamp with time zone not null
  experiment_id uuid not null
  count bigint not null
  constraint message_days_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint message_days_pkey PRIMARY KEY (client_id, day, experiment_id)
  CREATE INDEX message_days_by_experiment ON public.message_days USING btree (experiment_id)
table message_hours
  client_id text not null
  experiment_id uuid not null
  hour timestamp with time zone not null
  version text not null
  protocol_id text not null
  workbook_version_id text not null
  macros text not null
  count bigint not null
  with_gps bigint not null
  with_battery bigint not null
  battery_sum double precision not null
  battery_count bigint not null
  first_at timestamp with time zone not null
  last_at timestamp with time zone not null
  id bigint not null generated as identity
  constraint message_hours_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint message_hours_pkey PRIMARY KEY (client_id, hour, experiment_id, version, protocol_id, workbook_version_id, macros)
  constraint message_hours_id_key UNIQUE (id)
  CREATE INDEX message_hours_by_experiment ON public.message_hours USING btree (experiment_id)
table message_instants
  hour_id bigint not null
  at timestamp with time zone not null
  gps boolean not null
  battery double precision
  run_id text
  CREATE INDEX message_instants_by_hour ON public.message_instants USING btree (hour_id, at)
table message_runs
  client_id text not null
  run_id text not null
  hour timestamp with time zone not null
  experiment_id uuid
  constraint message_runs_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  CREATE INDEX message_runs_by_experiment ON public.message_runs USING btree (experiment_id)
  CREATE UNIQUE INDEX message_runs_once ON public.message_runs USING btree (client_id, hour, run_id, experiment_id) NULLS NOT DISTINCT
table message_tries
  id bigint not null generated as identity
  experiment_id uuid not null
  first_ordinal bigint not null
  last_ordinal bigint not null
  constraint message_tries_pkey PRIMARY KEY (id)
  CREATE INDEX message_tries_by_experiment ON public.message_tries USING btree (experiment_id)
table metadata_records
  id uuid not null
  experiment_id uuid not null
  metadata jsonb not null
  size integer not null
  version bigint not null default 1
  created_by uuid not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  shape jsonb not null generated always as (metadata_shape(metadata)) stored
  constraint metadata_records_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE RESTRICT
  constraint metadata_records_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint metadata_records_pkey PRIMARY KEY (id)
  CREATE INDEX metadata_records_by_experiment ON public.metadata_records USING btree (experiment_id, created_at DESC, id DESC)
table name_words
  word text not null
  constraint name_words_pkey PRIMARY KEY (word)
  CREATE INDEX name_words_trigram ON public.name_words USING gin (word gin_trgm_ops)
table newsletter_subscribers
  email text not null
  status text not null default 'pending'::text
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint newsletter_subscribers_email_check CHECK (((email = canonical_email(email)) AND ((length(email) >= 3) AND (length(email) <= 320))))
  constraint newsletter_subscribers_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'subscribed'::text, 'unsubscribed'::text])))
  constraint newsletter_subscribers_pkey PRIMARY KEY (email)
table organization_invitation_teams
  invitation_id uuid not null
  team_id uuid not null
  constraint organization_invitation_teams_invitation_id_fkey FOREIGN KEY (invitation_id) REFERENCES organization_invitations(id) ON DELETE CASCADE
  constraint organization_invitation_teams_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE
  constraint organization_invitation_teams_pkey PRIMARY KEY (invitation_id, team_id)
  CREATE INDEX organization_invitation_teams_by_team ON public.organization_invitation_teams USING btree (team_id)
table organization_invitations
  id uuid not null
  organization_id uuid not null
  email text not null
  role text not null
  status text not null default 'pending'::text
  inviter_id uuid not null
  expires_at timestamp with time zone not null
  created_at timestamp with time zone not null default now()
  constraint organization_invitations_email_check CHECK (((email = canonical_email(email)) AND ((length(email) >= 3) AND (length(email) <= 320))))
  constraint organization_invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text])))
  constraint organization_invitations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'rejected'::text, 'canceled'::text])))
  constraint organization_invitations_inviter_id_fkey FOREIGN KEY (inviter_id) REFERENCES users(id) ON DELETE CASCADE
  constraint organization_invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint organization_invitations_pkey PRIMARY KEY (id)
  CREATE INDEX organization_invitations_by_email ON public.organization_invitations USING btree (email)
  CREATE UNIQUE INDEX organization_invitations_one_pending ON public.organization_invitations USING btree (organization_id, email) WHERE (status = 'pending'::text)
table organization_join_requests
  id uuid not null
  organization_id uuid not null
  user_id uuid not null
  message text
  status text not null default 'pending'::text
  decided_by uuid
  decided_at timestamp with time zone
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint organization_join_requests_message_check CHECK ((length(message) <= 250))
  constraint organization_join_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'cancelled'::text])))
  constraint organization_join_requests_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES users(id) ON DELETE SET NULL
  constraint organization_join_requests_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint organization_join_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint organization_join_requests_pkey PRIMARY KEY (id)
  CREATE INDEX organization_join_requests_by_organization ON public.organization_join_requests USING btree (organization_id, created_at DESC)
  CREATE INDEX organization_join_requests_by_user ON public.organization_join_requests USING btree (user_id)
  CREATE UNIQUE INDEX organization_join_requests_one_pending ON public.organization_join_requests USING btree (organization_id, user_id) WHERE (status = 'pending'::text)
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
table passkeys
  id uuid not null
  user_id uuid not null
  name text
  credential_id text not null
  public_key bytea not null
  counter bigint not null
  device_type text not null
  backed_up boolean not null
  transports text[] not null default '{}'::text[]
  aaguid text
  created_at timestamp with time zone not null default now()
  last_used_at timestamp with time zone
  constraint passkeys_credential_id_check CHECK ((length(credential_id) <= 2048))
  constraint passkeys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint passkeys_pkey PRIMARY KEY (id)
  constraint passkeys_credential_id_key UNIQUE (credential_id)
  CREATE INDEX passkeys_by_user ON public.passkeys USING btree (user_id, created_at)
table pending_messages
  experiment_id uuid not null
  ordinal bigint not null
  message_id uuid not null
  byte_count integer not null
  again boolean not null default false
  constraint pending_messages_pkey PRIMARY KEY (experiment_id, ordinal)
table presence_events
  id uuid not null
  thing_name text not null
  event_type text not null
  at timestamp with time zone not null
  disconnect_reason text
  session text
  ordinal bigint not null generated as identity
  constraint presence_events_event_type_check CHECK ((event_type = ANY (ARRAY['connected'::text, 'disconnected'::text])))
  constraint presence_events_pkey PRIMARY KEY (id)
  CREATE INDEX presence_events_by_thing ON public.presence_events USING btree (thing_name, at DESC, ordinal DESC)
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
table project_transfer_requests
  id uuid not null
  user_id uuid not null
  user_email text not null
  source_platform text not null
  project_id_old text not null
  project_url_old text not null
  status text not null default 'pending'::text
  experiment_id uuid
  requested_at timestamp with time zone not null default now()
  decided_at timestamp with time zone
  constraint project_transfer_requests_check CHECK (((status = 'completed'::text) <= (experiment_id IS NOT NULL)))
  constraint project_transfer_requests_project_id_old_check CHECK (((length(project_id_old) >= 1) AND (length(project_id_old) <= 255)))
  constraint project_transfer_requests_project_url_old_check CHECK ((length(project_url_old) <= 2000))
  constraint project_transfer_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'failed'::text, 'completed'::text, 'partial_failed'::text])))
  constraint project_transfer_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint project_transfer_requests_pkey PRIMARY KEY (id)
  CREATE INDEX project_transfer_requests_by_user ON public.project_transfer_requests USING btree (user_id, requested_at DESC)
  CREATE UNIQUE INDEX project_transfer_requests_one ON public.project_transfer_requests USING btree (user_id, project_id_old) WHERE (status <> ALL (ARRAY['rejected'::text, 'failed'::text]))
table protocols
  id uuid not null
  type text not null default 'protocol'::text
  code json not null default '[]'::json
  code_version integer not null default 1
  family text not null default 'generic'::text
  code_digest bytea not null generated always as (code_digest(code, family)) stored
  forked_from uuid
  constraint protocols_code_check CHECK ((json_typeof(code) <> 'null'::text))
  constraint protocols_code_version_check CHECK ((code_version >= 1))
  constraint protocols_family_check CHECK ((family = ANY (ARRAY['multispeq'::text, 'ambyte'::text, 'minipar'::text, 'generic'::text, 'ambit'::text])))
  constraint protocols_type_check CHECK ((type = 'protocol'::text))
  constraint protocols_forked_from_fkey FOREIGN KEY (forked_from) REFERENCES protocols(id) ON DELETE SET NULL
  constraint protocols_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint protocols_pkey PRIMARY KEY (id)
  CREATE INDEX protocols_by_source ON public.protocols USING btree (forked_from) WHERE (forked_from IS NOT NULL)
table provider_accounts
  id uuid not null
  user_id uuid not null
  provider text not null
  account_id text not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint provider_accounts_account_id_check CHECK (((length(account_id) >= 1) AND (length(account_id) <= 255)))
  constraint provider_accounts_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'orcid'::text])))
  constraint provider_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint provider_accounts_pkey PRIMARY KEY (id)
  constraint provider_accounts_provider_account_id_key UNIQUE (provider, account_id)
  CREATE INDEX provider_accounts_by_user ON public.provider_accounts USING btree (user_id)
table recent_measurements
  client_id text not null
  id text not null
  experiment_id uuid not null
  at timestamp with time zone not null
  protocol_id text
  workbook_version_id text
  version text
  battery double precision
  latitude double precision
  longitude double precision
  sample text
  constraint recent_measurements_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint recent_measurements_pkey PRIMARY KEY (client_id, at, id)
  CREATE INDEX recent_measurements_by_experiment ON public.recent_measurements USING btree (experiment_id)
table registry_changes
  experiment_id uuid not null
  changed_at timestamp with time zone not null default now()
  next_at timestamp with time zone not null default now()
  constraint registry_changes_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint registry_changes_pkey PRIMARY KEY (experiment_id)
table registry_things
  thing_name text not null
  record jsonb not null
  constraint registry_things_pkey PRIMARY KEY (thing_name)
  CREATE INDEX registry_things_certificates ON public.registry_things USING gin (((record -> 'certificates'::text)) jsonb_path_ops)
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
  sort_order integer
  search tsvector
  is_archived boolean not null default false
  constraint resources_check CHECK (((public_from IS NULL) OR (type = 'experiment'::text)))
  constraint resources_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint resources_type_check CHECK ((type = ANY (ARRAY['experiment'::text, 'protocol'::text, 'macro'::text, 'workbook'::text, 'device'::text, 'device_group'::text])))
  constraint resources_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'public'::text])))
  constraint resources_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE RESTRICT
  constraint resources_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE RESTRICT
  constraint resources_pkey PRIMARY KEY (id)
  constraint resources_id_type_key UNIQUE (id, type)
  CREATE INDEX resources_at ON public.resources USING hash (id)
  CREATE INDEX resources_by_change ON public.resources USING btree (updated_at DESC, id DESC) WHERE (visibility = 'public'::text)
  CREATE INDEX resources_by_creator ON public.resources USING btree (created_by, type)
  CREATE INDEX resources_by_organization ON public.resources USING btree (organization_id, type, updated_at DESC, id DESC) INCLUDE (is_archived)
  CREATE INDEX resources_embargoed ON public.resources USING btree (type, public_from) WHERE ((public_from IS NOT NULL) AND (visibility = 'private'::text))
  CREATE INDEX resources_library_by_organization ON public.resources USING btree (organization_id, type, sort_order, lower(name), id)
  CREATE INDEX resources_library_public ON public.resources USING btree (type, sort_order, lower(name), id) WHERE (visibility = 'public'::text)
  CREATE INDEX resources_name_prefix ON public.resources USING btree (lower(name) text_pattern_ops)
  CREATE INDEX resources_name_trigram ON public.resources USING gin (name gin_trgm_ops)
  CREATE INDEX resources_public ON public.resources USING btree (type, updated_at DESC, id DESC) INCLUDE (is_archived) WHERE (visibility = 'public'::text)
  CREATE INDEX resources_search ON public.resources USING gin (search)
  CREATE INDEX resources_search_public ON public.resources USING gin (search) WHERE (visibility = 'public'::text)
table sessions
  id uuid not null
  user_id uuid not null
  token_hash bytea not null
  method text not null
  expires_at timestamp with time zone not null
  renewed_at timestamp with time zone not null default now()
  ip_address text
  user_agent text
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['email'::text, 'passkey'::text, 'github'::text, 'orcid'::text, 'link'::text])))
  constraint sessions_token_hash_check CHECK ((length(token_hash) = 32))
  constraint sessions_user_agent_check CHECK ((length(user_agent) <= 512))
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint sessions_pkey PRIMARY KEY (id)
  constraint sessions_token_hash_key UNIQUE (token_hash)
  CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at)
  CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id, created_at DESC)
table sign_in_codes
  address text not null
  browser bytea not null
  digest bytea not null
  salt bytea not null
  wrong_tries smallint not null default 0
  expires_at timestamp with time zone not null
  created_at timestamp with time zone not null default now()
  constraint sign_in_codes_digest_check CHECK ((length(digest) = 32))
  constraint sign_in_codes_pkey PRIMARY KEY (address, browser)
  CREATE INDEX sign_in_codes_by_expiry ON public.sign_in_codes USING btree (expires_at)
table sign_in_links
  token_hash bytea not null
  user_id uuid not null
  target text not null
  expires_at timestamp with time zone not null
  constraint sign_in_links_token_hash_check CHECK ((length(token_hash) = 32))
  constraint sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
  constraint sign_in_links_pkey PRIMARY KEY (token_hash)
  CREATE INDEX sign_in_links_by_user ON public.sign_in_links USING btree (user_id)
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
  replay_requested_at timestamp with time zone
  tries integer not null default 0
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
  reading jsonb not null default '{}'::jsonb
  starts integer not null default 0
  withdraw_requested_at timestamp with time zone
  withdrawn_at timestamp with time zone
  turn integer not null default 0
  constraint uploads_check CHECK ((rows_in = ((stored + quarantined) + already_there)))
  constraint uploads_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'partial'::text, 'failed'::text]))))
  constraint uploads_check2 CHECK ((withdrawn_at >= withdraw_requested_at))
  constraint uploads_file_count_check CHECK ((file_count >= 0))
  constraint uploads_source_kind_check CHECK ((source_kind = ANY (ARRAY['ambyte'::text, 'csv'::text, 'tsv'::text, 'xlsx'::text, 'parquet'::text, 'json'::text, 'ndjson'::text])))
  constraint uploads_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'partial'::text, 'failed'::text])))
  constraint uploads_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint uploads_table_id_fkey FOREIGN KEY (table_id) REFERENCES lake_tables(id) ON DELETE SET NULL
  constraint uploads_pkey PRIMARY KEY (id)
  CREATE INDEX uploads_begun ON public.uploads USING btree (turn) WHERE (started_at IS NOT NULL)
  CREATE INDEX uploads_by_creator ON public.uploads USING btree (created_by, turn)
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
table visualizations
  id uuid not null
  experiment_id uuid not null
  name text not null
  description text
  chart_family text not null
  chart_type text not null
  config jsonb not null default '{}'::jsonb
  data_config jsonb not null
  version bigint not null default 1
  created_by uuid not null
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint visualizations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
  constraint visualizations_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE RESTRICT
  constraint visualizations_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint visualizations_pkey PRIMARY KEY (id)
  CREATE INDEX visualizations_by_experiment ON public.visualizations USING btree (experiment_id, created_at DESC, id DESC)
table webhook_attempts
  id uuid not null
  message_id uuid not null
  at timestamp with time zone not null default now()
  status_code integer
  failure text
  milliseconds integer not null
  constraint webhook_attempts_message_id_fkey FOREIGN KEY (message_id) REFERENCES webhook_messages(id) ON DELETE CASCADE
  constraint webhook_attempts_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_attempts_by_message ON public.webhook_attempts USING btree (message_id, at, id)
table webhook_deliveries
  id text not null
  answer jsonb
  received_at timestamp with time zone not null default now()
  constraint webhook_deliveries_id_check CHECK (((length(id) >= 1) AND (length(id) <= 255)))
  constraint webhook_deliveries_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_deliveries_by_age ON public.webhook_deliveries USING btree (received_at)
table webhook_endpoints
  id uuid not null
  organization_id uuid not null
  url text not null
  description text
  kinds text[] not null
  secret text not null
  old_secret text
  old_secret_until timestamp with time zone
  is_enabled boolean not null default true
  disabled_reason text
  failures integer not null default 0
  failing_since timestamp with time zone
  last_success_at timestamp with time zone
  held_until timestamp with time zone
  busy_until timestamp with time zone
  created_by uuid
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  version bigint not null default 1
  is_slow boolean not null default false
  constraint webhook_endpoints_description_check CHECK ((length(description) <= 1000))
  constraint webhook_endpoints_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2000)))
  constraint webhook_endpoints_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL
  constraint webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
  constraint webhook_endpoints_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_endpoints_by_organization ON public.webhook_endpoints USING btree (organization_id, created_at DESC, id DESC)
table webhook_messages
  id uuid not null
  endpoint_id uuid not null
  kind text not null
  payload text not null
  status text not null default 'pending'::text
  attempts integer not null default 0
  next_attempt_at timestamp with time zone not null default now()
  created_at timestamp with time zone not null default now()
  completed_at timestamp with time zone
  constraint webhook_messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
  constraint webhook_messages_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE
  constraint webhook_messages_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_messages_by_endpoint ON public.webhook_messages USING btree (endpoint_id, created_at DESC, id DESC)
  CREATE INDEX webhook_messages_due ON public.webhook_messages USING btree (next_attempt_at) WHERE (status = 'pending'::text)
  CREATE INDEX webhook_messages_pending ON public.webhook_messages USING btree (endpoint_id, next_attempt_at) WHERE (status = 'pending'::text)
table withheld_macros
  experiment_id uuid not null
  macro_id uuid not null
  measurements bigint not null
  first_at timestamp with time zone not null default now()
  last_at timestamp with time zone not null default now()
  constraint withheld_macros_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE
  constraint withheld_macros_macro_id_fkey FOREIGN KEY (macro_id) REFERENCES macros(id) ON DELETE CASCADE
  constraint withheld_macros_pkey PRIMARY KEY (experiment_id, macro_id)
  CREATE INDEX withheld_macros_macro ON public.withheld_macros USING btree (macro_id)
table workbook_uses
  workbook_id uuid not null
  resource_id uuid not null
  resource_type text not null
  constraint workbook_uses_resource_type_check CHECK ((resource_type = ANY (ARRAY['protocol'::text, 'macro'::text])))
  constraint workbook_uses_workbook_id_fkey FOREIGN KEY (workbook_id) REFERENCES workbooks(id) ON DELETE CASCADE
  constraint workbook_uses_pkey PRIMARY KEY (workbook_id, resource_id)
  CREATE INDEX workbook_uses_by_resource ON public.workbook_uses USING btree (resource_id)
table workbook_version_uses
  version_id uuid not null
  resource_id uuid not null
  code_digest bytea
  constraint workbook_version_uses_version_id_fkey FOREIGN KEY (version_id) REFERENCES workbook_versions(id) ON DELETE CASCADE
  constraint workbook_version_uses_pkey PRIMARY KEY (version_id, resource_id)
table workbook_versions
  id uuid not null
  workbook_id uuid not null
  version integer not null
  cells json not null
  metadata json not null
  design_digest bytea not null
  entity_snapshots json not null
  created_by uuid not null
  created_at timestamp with time zone not null default now()
  constraint workbook_versions_version_check CHECK ((version >= 1))
  constraint workbook_versions_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE RESTRICT
  constraint workbook_versions_pkey PRIMARY KEY (id)
  constraint workbook_versions_workbook_id_version_key UNIQUE (workbook_id, version)
table workbooks
  id uuid not null
  type text not null default 'workbook'::text
  cells json not null default '[]'::json
  metadata json not null default '{}'::json
  design_digest bytea not null default sha256('\x5b5d'::bytea)
  cell_type_counts jsonb not null default '{}'::jsonb
  forked_from uuid
  constraint workbooks_type_check CHECK ((type = 'workbook'::text))
  constraint workbooks_forked_from_fkey FOREIGN KEY (forked_from) REFERENCES workbooks(id) ON DELETE SET NULL
  constraint workbooks_id_type_fkey FOREIGN KEY (id, type) REFERENCES resources(id, type) ON DELETE CASCADE
  constraint workbooks_pkey PRIMARY KEY (id)
  CREATE INDEX workbooks_by_source ON public.workbooks USING btree (forked_from) WHERE (forked_from IS NOT NULL)
CREATE OR REPLACE FUNCTION public.acquainted(viewer uuid, people uuid[])
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select viewer where viewer = any (people)
  union
  select theirs.user_id from organization_members mine join organization_members theirs on theirs.organization_id = mine.organization_id
  where mine.user_id = viewer and theirs.user_id = any (people)
  union
  select theirs.user_id from granted_resources theirs
  where theirs.user_id = any (people)
    and theirs.resource_id in (
      select resource_id from granted_resources where user_id = viewer
      union all
      select r.id from organization_members mine join resources r on r.organization_id = mine.organization_id where mine.user_id = viewer)
  union
  select theirs.user_id
  from granted_resources mine join resources r on r.id = mine.resource_id join organization_members theirs on theirs.organization_id = r.organization_id
  where mine.user_id = viewer and theirs.user_id = any (people)
$function$
CREATE OR REPLACE FUNCTION public.canonical_email(address text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN lower(TRIM(BOTH FROM address))
CREATE OR REPLACE FUNCTION public.code_digest(code json, kind text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN code_digest((code)::text, kind)
CREATE OR REPLACE FUNCTION public.code_digest(code text, kind text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN sha256(convert_to(((kind || '
'::text) || code), 'UTF8'::name))
CREATE OR REPLACE FUNCTION public.collaborators_of(resources uuid[], organizations uuid[])
 RETURNS TABLE(resource_id uuid, collaborators integer)
 LANGUAGE sql
 STABLE PARALLEL SAFE ROWS 100
AS $function$
  with staff as materialized (
    select m.organization_id,
      array_agg(m.user_id) filter (where m.is_owner) as owners,
      array_agg(m.user_id) filter (where m.is_admin and not m.is_owner) as admins,
      array_agg(m.user_id) filter (where m.is_member and not m.is_admin) as members
    from organization_members m
    join users u on u.id = m.user_id and u.deleted_at is null
    where m.organization_id = any (organizations)
    group by m.organization_id
  )
  select asked.resource_id, (held.grants
    + coalesce(cardinality(staff.owners), 0) - held.owners
    + case when held.admins < cardinality(staff.admins) then 1 else 0 end
    + case when held.members < cardinality(staff.members) then 1 else 0 end)::integer
  from unnest(resources, organizations) as asked (resource_id, organization_id)
  left join staff on staff.organization_id = asked.organization_id
  cross join lateral (
    -- a person has one grant of a resource and one membership, so that who has both is counted and not looked up
    select count(*) as grants, count(*) filter (where g.user_id = any (staff.owners)) as owners,
      count(*) filter (where g.user_id = any (staff.admins)) as admins, count(*) filter (where g.user_id = any (staff.members)) as members
    from grants g where g.resource_id = asked.resource_id) held
$function$
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
CREATE OR REPLACE FUNCTION public.deletion_blockers(person uuid)
 RETURNS TABLE(resource_id uuid)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select r.id
  from (
    select r.id, r.organization_id from organization_members m join resources r on r.organization_id = m.organization_id where m.user_id = person and m.is_admin
    union
    select r.id, r.organization_id from grants g join resources r on r.id = g.resource_id where g.user_id = person and g.confers_all
  ) r
  left join organization_members own on own.organization_id = r.organization_id and own.user_id = person
  where not exists (
      select from organization_staff s
      where s.organization_id = r.organization_id and s.user_id <> person and (s.is_owner or (s.is_admin and not coalesce(own.is_owner, false))))
    and not exists (select from covering_grants c where c.resource_id = r.id and c.user_id <> person)
$function$
CREATE OR REPLACE FUNCTION public.first_found(caller uuid, homes uuid[], granted uuid[], asked_types text[], related_only boolean, asked tsquery, arm integer, asked_visibility text, maker uuid)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET max_parallel_workers_per_gather TO '0'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
  sample constant integer := 400;
  found uuid[];
begin
  found := array(
    select r.id from readable_among(caller, homes, granted, asked_types, related_only, sample, asked_visibility, maker) r
    where r.search @@ asked limit arm);
  -- where the rest of them is likely to be found in the next pages
  if cardinality(found) between arm / 16 and arm - 1 then
    found := array(
      select r.id from readable_among(caller, homes, granted, asked_types, related_only, sample * arm * 3 / (2 * cardinality(found)), asked_visibility, maker) r
      where r.search @@ asked limit arm);
  end if;
  if cardinality(found) < arm then
    found := array(
      select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where r.search @@ asked limit arm);
  end if;
  return found;
end
$function$
CREATE OR REPLACE FUNCTION public.forget_changes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from changes where experiment_id = old.id;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.forget_former_device()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from former_devices f join resources r on r.organization_id = f.organization_id where f.thing_name = new.thing_name and r.id = new.id) then
    delete from message_hours where client_id = new.thing_name;
    delete from message_days where client_id = new.thing_name;
    delete from message_runs where client_id = new.thing_name;
    delete from recent_measurements where client_id = new.thing_name;
    delete from measuring_devices where client_id = new.thing_name;
    delete from presence_events where thing_name = new.thing_name;
    delete from device_presence where thing_name = new.thing_name;
    update devices set begun_at = now() where id = new.id;
  end if;
  delete from former_devices where thing_name = new.thing_name;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.forget_instants()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from message_instants i using forgotten f where i.hour_id = f.id;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.forget_lake_sources()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from lake_sources where table_id in (select id from gone);
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.forget_newsletter_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from newsletter_subscribers where email = old.email;
  return new;
end $function$
CREATE OR REPLACE FUNCTION public.granted_to(caller uuid)
 RETURNS uuid[]
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ARRAY(SELECT a.resource_id FROM effective_access a WHERE ((a.user_id = granted_to.caller) AND ((a.rank >= 2) AND (a.rank <= 4)) AND a.can_read))
CREATE OR REPLACE FUNCTION public.homes_of(caller uuid)
 RETURNS uuid[]
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ARRAY(SELECT m.organization_id FROM organization_members m WHERE ((m.user_id = homes_of.caller) AND m.is_member))
CREATE OR REPLACE FUNCTION public.keep_former_device()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into former_devices (thing_name, organization_id) select thing_name, old.organization_id from devices where id = old.id
  on conflict (thing_name) do update set organization_id = excluded.organization_id;
  return old;
end $function$
CREATE OR REPLACE FUNCTION public.key_stands(key api_keys)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((key).enabled AND ((key).revoked_at IS NULL) AND (((key).expires_at IS NULL) OR ((key).expires_at > now())))
CREATE OR REPLACE FUNCTION public.knows(viewer uuid, person uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((viewer = person) OR (EXISTS (SELECT FROM (organization_members mine JOIN organization_members theirs ON ((theirs.organization_id = mine.organization_id))) WHERE ((mine.user_id = knows.viewer) AND (theirs.user_id = knows.person)))) OR (EXISTS (SELECT FROM (granted_resources theirs JOIN granted_resources mine ON (((mine.resource_id = theirs.resource_id) AND (mine.user_id = knows.viewer)))) WHERE (theirs.user_id = knows.person))) OR (EXISTS (SELECT FROM ((granted_resources theirs JOIN resources r ON ((r.id = theirs.resource_id))) JOIN organization_members mine ON (((mine.organization_id = r.organization_id) AND (mine.user_id = knows.viewer)))) WHERE (theirs.user_id = knows.person))) OR (EXISTS (SELECT FROM ((granted_resources mine JOIN resources r ON ((r.id = mine.resource_id))) JOIN organization_members theirs ON (((theirs.organization_id = r.organization_id) AND (theirs.user_id = knows.person)))) WHERE (mine.user_id = knows.viewer))))
CREATE OR REPLACE FUNCTION public.library_ids(caller uuid, asked_type text, related_only boolean, asked_language text, most integer)
 RETURNS TABLE(id uuid, "position" bigint)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  with found as (
    select r.id, r.sort_order, lower(r.name) as name
    from organization_members m
    cross join lateral (
      select r.* from resources r
      where r.organization_id = m.organization_id and r.type = asked_type
        and (asked_language is null or exists (select from macros where macros.id = r.id and macros.language = asked_language))
      order by r.sort_order, lower(r.name), r.id limit most) r
    where m.user_id = caller and m.is_member
    union
    select r.id, r.sort_order, lower(r.name)
    from resources r
    where (r.id in (select a.resource_id from effective_access a where a.user_id = caller and a.resource_type = asked_type and a.rank between 2 and 4 and a.can_read)
        or (r.created_by = caller and r.visibility = 'public'))
      and r.type = asked_type
      and (asked_language is null or exists (select from macros where macros.id = r.id and macros.language = asked_language))
    union
    (select r.id, r.sort_order, lower(r.name)
     from resources r
     where not related_only and r.visibility = 'public' and r.type = asked_type
       and (asked_language is null or exists (select from macros where macros.id = r.id and macros.language = asked_language))
     order by r.sort_order, lower(r.name), r.id limit most)
  )
  select found.id, row_number() over (order by found.sort_order, found.name, found.id) from found order by 2 limit most
$function$
CREATE OR REPLACE FUNCTION public.listed_ids(caller uuid, asked_type text, related_only boolean, term text, asked_language text, most integer)
 RETURNS TABLE(id uuid, "position" bigint)
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if term is null then
    return query select * from library_ids(caller, asked_type, related_only, asked_language, most);
  else
    return query select * from search_ids(caller, array[asked_type], related_only, term, null, asked_language, most);
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.listed_page(caller uuid, asked_type text, related_only boolean, term text, asked_language text, page_size bigint, page_start bigint)
 RETURNS TABLE(id uuid, "position" bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select id, "position"
  from listed_ids(caller, asked_type, related_only, term, asked_language,
    case when term is null then least(page_size + page_start, 2147483647)::integer else 10001 end)
  order by "position" limit page_size offset page_start
$function$
CREATE OR REPLACE FUNCTION public.macro_filename(id uuid)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ('macro_'::text || "left"(encode(sha256(convert_to((id)::text, 'UTF8'::name)), 'hex'::text), 12))
CREATE OR REPLACE FUNCTION public.mark_archived()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update resources set is_archived = not is_archived where id = new.id and is_archived <> (new.status = 'archived');
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.mark_rebind()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update devices set needs_rebind = true where id in (select device_id from changed) and not needs_rebind;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.metadata_shape(metadata jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object('matchedBy', CASE WHEN ((metadata ->> 'experimentQuestionId'::text) = 'column:device_id'::text) THEN 'device_id'::text ELSE (metadata ->> 'experimentQuestionId'::text) END, 'columns', COALESCE((SELECT jsonb_agg(jsonb_build_object('name', (listed.c ->> 'name'::text), 'type', (listed.c ->> 'type'::text)) ORDER BY listed.place) AS jsonb_agg FROM jsonb_array_elements(CASE WHEN (jsonb_typeof((metadata_shape.metadata -> 'columns'::text)) = 'array'::text) THEN (metadata_shape.metadata -> 'columns'::text) ELSE '[]'::jsonb END) WITH ORDINALITY listed(c, place) WHERE (((listed.c ->> 'id'::text) IS DISTINCT FROM (metadata_shape.metadata ->> 'identifierColumnId'::text)) AND ((listed.c ->> 'name'::text) IS NOT NULL))), '[]'::jsonb))
CREATE OR REPLACE FUNCTION public.name_words_follow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'DELETE' then
    insert into name_words select words_of_name(new.name) on conflict do nothing;
  end if;
  if tg_op <> 'INSERT' then
    delete from name_words w
    where w.word in (select words_of_name(old.name))
      and not exists (select from resources r where r.search @@ (quote_literal(w.word) || ':A')::tsquery and r.type in ('experiment', 'protocol', 'macro', 'workbook'));
  end if;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_change(experiment uuid, kind text, audience text, data jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into changes (experiment_id, kind, audience, data) select e.id, kind, audience, data from experiments e where e.id = experiment
$function$
CREATE OR REPLACE FUNCTION public.note_device_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_change(b.experiment_id, 'device', 'related',
    jsonb_build_object('deviceId', new.id, 'status', case new.state when 'phone' then 'active' else new.state end))
  from experiment_devices b where b.device_id = new.id;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_export_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  export exports := coalesce(new, old);
begin
  perform note_change(export.experiment_id, 'export',
    table_action(coalesce((select kind from lake_tables where experiment_id = export.experiment_id and identifier = export.table_identifier), export.table_identifier)),
    jsonb_build_object('exportId', export.id, 'status', coalesce(new.status, 'removed'), 'identifier', export.table_identifier));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_macro_run_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_change(new.experiment_id, 'macroRun', 'read', jsonb_build_object('id', new.id, 'macroId', new.macro_id, 'status', new.status));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_measuring_devices()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  with added as (
    insert into measuring_devices (experiment_id, client_id) select distinct experiment_id, client_id from counted order by 1, 2
    on conflict do nothing returning experiment_id
  )
  insert into registry_changes (experiment_id) select distinct experiment_id from added order by 1
  on conflict (experiment_id) do update set changed_at = clock_timestamp();
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_presence_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.connected = new.connected then return null; end if;
  perform note_change(b.experiment_id, 'device', 'device', jsonb_build_object('deviceId', d.id, 'connected', new.connected))
  from devices d join experiment_devices b on b.device_id = d.id where d.thing_name = new.thing_name;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_registry_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into registry_changes (experiment_id)
  select m.experiment_id from measuring_devices m join experiments e on e.id = m.experiment_id
  where m.client_id = coalesce(new.thing_name, old.thing_name) order by 1
  on conflict (experiment_id) do update set changed_at = clock_timestamp();
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_table_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_change(coalesce(new.experiment_id, old.experiment_id), 'table', table_action(coalesce(new.kind, old.kind)),
    jsonb_build_object('identifier', coalesce(new.identifier, old.identifier), 'version', new.version, 'totalRows', new.row_count));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_upload_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_change(new.experiment_id, 'upload', table_action('upload'),
    jsonb_build_object('uploadId', new.id, 'status', new.status, 'uploadTableId', new.table_id));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.note_withheld_macro()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_change(coalesce(new.experiment_id, old.experiment_id), 'table', 'manage',
    jsonb_build_object('identifier', coalesce(new.macro_id, old.macro_id), 'version', t.version, 'totalRows', t.row_count))
  from (select coalesce(max(version), 0) as version, coalesce(max(row_count), 0) as row_count from lake_tables
    where experiment_id = coalesce(new.experiment_id, old.experiment_id) and identifier = coalesce(new.macro_id, old.macro_id)::text) t;
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.readable_among(caller uuid, homes uuid[], granted uuid[], asked_types text[], related_only boolean, pages integer DEFAULT NULL::integer, asked_visibility text DEFAULT NULL::text, maker uuid DEFAULT NULL::uuid)
 RETURNS SETOF resources
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select r.*
  from resources r
  where r.type = any (asked_types)
    and (pages is null or r.ctid < format('(%s,0)', pages)::tid)
    and (maker is null or r.created_by = maker)
    and (asked_visibility is null or (r.visibility = 'public' or coalesce(r.public_from <= now(), false)) = (asked_visibility = 'public'))
    and (
      r.organization_id in (select unnest(homes))
      or r.id in (select unnest(granted))
      or ((r.visibility = 'public' or r.public_from <= now()) and (not related_only or r.created_by = caller)))
$function$
CREATE OR REPLACE FUNCTION public.readable_resources(caller uuid, asked_types text[], related_only boolean)
 RETURNS SETOF resources
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select r.* from readable_among(caller, homes_of(caller), granted_to(caller), asked_types, related_only) r
$function$
CREATE OR REPLACE FUNCTION public.refresh_search(asked uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
  update resources set search = resource_search(id) where id in (select id from resources where id = any (asked) order by id for no key update)
$function$
CREATE OR REPLACE FUNCTION public.refuse_version_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a workbook version never changes' using errcode = 'restrict_violation';
end $function$
CREATE OR REPLACE FUNCTION public.release_pinned_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from workbook_versions v
  where v.id = old.workbook_version_id
    and not exists (select from workbooks w where w.id = v.workbook_id)
    and not exists (select from experiments e where e.workbook_version_id = v.id);
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.release_versions_of_workbook()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from workbook_versions v where v.workbook_id = old.id and not exists (select from experiments e where e.workbook_version_id = v.id);
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.resource_search(asked uuid)
 RETURNS tsvector
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select setweight(searchable(r.name), 'A') || setweight(searchable(left(r.description, 20000)), 'B')
    || setweight(to_tsvector('words', concat_ws(' ', m.language, p.family,
         (select string_agg(concat_ws(' ', l.name, l.country, l.region, l.municipality, l.address_label), ' ' order by l.ordinal)
          from locations l where l.experiment_id = r.id))), 'C')
    || setweight(to_tsvector('words', coalesce((
         select string_agg(concat_ws(' ', person.first_name, person.last_name), ' ' order by person.user_id)
         from (
           select r.created_by as user_id
           union
           -- whom an anonymised experiment is shared with is not told by finding it
           select g.user_id from grants g where g.resource_id = r.id and g.user_id is not null and not e.anonymize_contributors) named
         join profiles person on person.user_id = named.user_id and person.activated
         join users u on u.id = named.user_id and u.deleted_at is null), '')), 'D')
  from resources r
  left join experiments e on e.id = r.id
  left join macros m on m.id = r.id
  left join protocols p on p.id = r.id
  where r.id = asked
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
CREATE OR REPLACE FUNCTION public.search_ids(caller uuid, asked_types text[], related_only boolean, term text, asked_status text, asked_language text, most integer, asked_visibility text DEFAULT NULL::text, maker uuid DEFAULT NULL::uuid)
 RETURNS TABLE(id uuid, "position" bigint)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET "pg_trgm.word_similarity_threshold" TO '0.45'
 SET max_parallel_workers_per_gather TO '0'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
  homes constant uuid[] := homes_of(caller);
  granted constant uuid[] := granted_to(caller);
  asked tsquery := search_query(term);
  folded text := lower(term);
  part text := replace(replace(replace(lower(term), '\', '\\'), '%', '\%'), '_', '\_') || '%';
  arm integer := greatest(most, 200);
  few constant integer := 32;
  sample constant integer := 400;
  worded uuid[];
  searched constant text[] := array['experiment', 'protocol', 'macro', 'workbook'];
  -- words that nothing holds that the caller may read, longest first: these may be misspelt, the others must be met. What others hold decides nothing, or
  -- its words could be told by what is found. With `offset 0` each word is asked for by itself: joined with all words, it took three times as long.
  strange text[];
  known tsquery;
  meant tsquery;
  near uuid[];
  hits uuid[];
  via uuid[];
begin
  worded := first_found(caller, homes, granted, asked_types, related_only, asked, arm, asked_visibility, maker);
  select array(
    (select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where lower(r.name) = folded order by r.id limit arm)
    union
    (select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where lower(r.name) like part limit arm)
    union
    select unnest(worded)
  ) into hits;
  if cardinality(hits) < few and length(term) >= 3 then
    hits := hits || array(
      select r.id from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
      where r.name ilike '%' || part and r.id <> all (hits) limit arm);
  end if;
  if cardinality(hits) < few then
    select array_agg(w order by length(w) desc, w) filter (where not is_known and length(w) >= 3),
      search_query(string_agg(w, ' ') filter (where is_known or length(w) < 3))
    into strange, known
    from (
      select w, exists (select from readable_among(caller, homes, granted, searched, false, sample) r where r.search @@ one.query offset 0)
        or exists (select from readable_among(caller, homes, granted, searched, false) r where r.search @@ one.query offset 0) as is_known
      from (
        -- once a word, and not once a row
        select w, search_query(w) as query from regexp_split_to_table(lower(term), '[^[:alnum:]]+') w where w <> '' limit 8 offset 0) one
      offset 0) word;
  end if;
  if cardinality(strange) > 0 then
    -- each as one of the words of names that are most like it; null where a word is like none
    select case when bool_and(alike.query is not null) then string_agg('(' || alike.query || ')', '&')::tsquery && coalesce(known, ''::tsquery) end
    into meant
    from unnest(strange) typed
    cross join lateral (
      select string_agg(quote_literal(word) || ':A', '|') as query
      from (
        select word
        from (select word from name_words where unaccent(typed) <% word order by word_similarity(unaccent(typed), word) desc, word limit 64) likeliest
        where exists (select from readable_among(caller, homes, granted, asked_types, related_only, null, asked_visibility, maker) r
          where r.search @@ (quote_literal(word) || ':A')::tsquery offset 0)
        limit 8) w) alike;
    near := first_found(caller, homes, granted, asked_types, related_only, meant, arm, asked_visibility, maker);
    hits := hits || array(
      select r.id from resources r where r.id = any (near) and r.id <> all (hits) order by word_similarity(folded, r.name) desc, r.id limit few);
  end if;
  if 'workbook' = any (asked_types) then
    via := case when not related_only and asked_visibility is null and maker is null and asked_types @> array['protocol', 'macro', 'experiment'] then worded else array(
      select r.id from readable_among(caller, homes, granted, array['protocol', 'macro', 'experiment'], false) r where r.search @@ asked limit 200) end;
    hits := hits || array(
      select r.id
      from readable_among(caller, homes, granted, array['workbook'], related_only, null, asked_visibility, maker) r
      where r.id = any (array(
          select u.workbook_id from workbook_uses u where u.resource_id = any (via)
          union
          select e.workbook_id from experiments e where e.id = any (via) and e.status <> 'archived' and e.workbook_id is not null))
        and r.id <> all (hits)
      limit arm);
  end if;
  return query
    select r.id, row_number() over (order by
      case when lower(r.name) = folded then 4 when lower(r.name) like part then 2 else 0 end
        + coalesce(ts_rank('{0.1, 0.2, 0.4, 1.0}', r.search, asked), 0) + 0.3 * word_similarity(folded, r.name) desc,
      lower(r.name), r.id)
    from resources r
    left join experiments e on e.id = r.id
    left join macros m on m.id = r.id
    where r.id = any (hits)
      and (e.id is null or case when asked_status is null then e.status <> 'archived' else e.status = asked_status end)
      and (asked_language is null or m.language = asked_language)
    order by 2
    limit most;
end
$function$
CREATE OR REPLACE FUNCTION public.search_of_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_search(array(
    select id from resources where created_by = new.id
    union select resource_id from grants where user_id = new.id and resource_type = 'experiment'));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.search_of_grants()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_search(array(select distinct resource_id from changed where resource_type = 'experiment' and user_id is not null));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.search_of_locations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_search(array(select distinct experiment_id from changed));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.search_of_person()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_search(array(
    select id from resources where created_by = new.user_id
    union select resource_id from grants where user_id = new.user_id and resource_type = 'experiment'));
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.search_of_resource()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_search(array[new.id]);
  return null;
end $function$
CREATE OR REPLACE FUNCTION public.search_query(term text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select nullif(string_agg('(' || part.query || ')', '&')::tsquery, ''::tsquery)
  from (
    select (to_tsquery('words', quote_literal(word) || ':*') || plainto_tsquery('stems', word))::text as query
    from regexp_split_to_table(lower(left(term, 200)), '[^[:alnum:]]+') as word
    where word <> ''
    limit 16
  ) part
  where part.query <> ''
$function$
CREATE OR REPLACE FUNCTION public.searchable(content text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (to_tsvector('words'::regconfig, COALESCE(content, ''::text)) || to_tsvector('stems'::regconfig, COALESCE(content, ''::text)))
CREATE OR REPLACE FUNCTION public.table_action(kind text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (kind = ANY (ARRAY['raw_data'::text, 'upload'::text])) THEN 'contribute'::text ELSE 'read'::text END
CREATE OR REPLACE FUNCTION public.window_counted(accepted bigint[], passed bigint)
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (passed <= 0) THEN (((accepted)[1] + 1) || (accepted)[2:62]) WHEN (passed > 60) THEN ((1)::bigint || array_fill((0)::bigint, ARRAY[61])) ELSE (((accepted)[1] + 1) || (array_fill((accepted)[1], ARRAY[((passed)::integer - 1)]) || (accepted)[1:(62 - (passed)::integer)])) END
CREATE OR REPLACE FUNCTION public.window_used(accepted bigint[], passed bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (passed > 60) THEN (0)::bigint ELSE ((accepted)[1] - (accepted)[(62 - GREATEST(passed, (0)::bigint))]) END
CREATE OR REPLACE FUNCTION public.words_of_name(name text)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select lexeme from unnest(to_tsvector('words', coalesce(name, ''))) where lexeme ~ '^[[:alpha:]]{3,40}$' order by lexeme
$function$
CREATE OR REPLACE FUNCTION public.workbook_drifted(workbook uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select coalesce((
    select v.design_digest <> w.design_digest or exists (
      select
      from workbook_uses u
      left join macros m on u.resource_type = 'macro' and m.id = u.resource_id
      left join protocols p on u.resource_type = 'protocol' and p.id = u.resource_id
      left join workbook_version_uses then_used on then_used.version_id = v.id and then_used.resource_id = u.resource_id
      where u.workbook_id = w.id and coalesce(m.code_digest, p.code_digest) is distinct from then_used.code_digest)
    from workbooks w
    join lateral (select * from workbook_versions of_it where of_it.workbook_id = w.id order by of_it.version desc limit 1) v on true
    where w.id = workbook), false)
$function$
view collaborator_counts as
 SELECT r.id AS resource_id,
    c.collaborators
   FROM (resources r
     CROSS JOIN LATERAL collaborators_of(ARRAY[r.id], ARRAY[r.organization_id]) c(resource_id, collaborators));
view covering_grants as
 SELECT g.id,
    g.resource_id,
    g.user_id
   FROM (grants g
     JOIN people p ON (((p.user_id = g.user_id) AND p.is_active)))
  WHERE g.confers_all;
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
    full_control AS can_manage,
    updated_at,
    is_archived
   FROM ( SELECT m.user_id,
            r.id AS resource_id,
            r.type AS resource_type,
            r.organization_id,
            1 AS rank,
            'organization-role'::text AS source,
            m.is_admin AS full_control,
            m.is_member AS reads,
            r.updated_at,
            r.is_archived
           FROM (organization_members m
             JOIN resources r ON ((r.organization_id = m.organization_id)))
          WHERE m.is_member
        UNION ALL
         SELECT g.user_id,
            g.resource_id,
            g.resource_type,
            r.organization_id,
            2,
            'user-grant'::text,
            g.confers_all,
            g.confers_read,
            r.updated_at,
            r.is_archived
           FROM (grants g
             LEFT JOIN resources r ON ((r.id = g.resource_id)))
          WHERE ((g.user_id IS NOT NULL) AND g.confers_read)
        UNION ALL
         SELECT t.user_id,
            g.resource_id,
            g.resource_type,
            r.organization_id,
            3,
            'team-grant'::text,
            g.confers_all,
            g.confers_read,
            r.updated_at,
            r.is_archived
           FROM ((team_members t
             JOIN grants g ON ((g.team_id = t.team_id)))
             LEFT JOIN resources r ON ((r.id = g.resource_id)))
          WHERE g.confers_read
        UNION ALL
         SELECT m.user_id,
            g.resource_id,
            g.resource_type,
            r.organization_id,
            4,
            'organization-grant'::text,
            g.confers_all,
            g.confers_read,
            r.updated_at,
            r.is_archived
           FROM ((organization_members m
             JOIN grants g ON ((g.organization_id = m.organization_id)))
             LEFT JOIN resources r ON ((r.id = g.resource_id)))
          WHERE g.confers_read
        UNION ALL
         SELECT u.id,
            r.id,
            r.type,
            r.organization_id,
            5,
            'public'::text,
            false,
            true,
            r.updated_at,
            r.is_archived
           FROM (resources r
             CROSS JOIN users u)
          WHERE ((r.visibility = 'public'::text) OR (r.public_from <= now()))) source;
view granted_resources as
 SELECT grants.user_id,
    grants.resource_id
   FROM grants
  WHERE ((grants.user_id IS NOT NULL) AND grants.confers_read)
UNION ALL
 SELECT t.user_id,
    g.resource_id
   FROM (team_members t
     JOIN grants g ON (((g.team_id = t.team_id) AND g.confers_read)))
UNION ALL
 SELECT m.user_id,
    g.resource_id
   FROM (organization_members m
     JOIN grants g ON (((g.organization_id = m.organization_id) AND g.confers_read)));
view library_resources as
 SELECT r.id,
    r.name,
    r.description,
    r.sort_order,
    r.created_by,
    ((p.first_name || ' '::text) || p.last_name) AS created_by_name,
    r.created_at,
    r.updated_at,
    r.organization_id,
        CASE
            WHEN (o.personal_user_id IS NULL) THEN o.name
            ELSE NULL::text
        END AS organization_name,
    r.visibility,
    r.version
   FROM ((resources r
     JOIN organizations o ON ((o.id = r.organization_id)))
     JOIN people p ON ((p.user_id = r.created_by)));
view messages as
 SELECT m.id,
    m.ordinal,
    m.experiment_id,
    m.source,
    m.client_id,
    m.user_id,
    m.protocol_id,
    m.arrived_at,
    m.byte_count,
    m.body,
    m.object_key,
        CASE
            WHEN (p.ordinal IS NULL) THEN m.status
            ELSE 'pending'::text
        END AS status,
        CASE
            WHEN ((p.ordinal IS NULL) OR p.again) THEN m.stored
            ELSE (0)::bigint
        END AS stored,
    m.quarantined,
    m.already_there,
    m.reasons,
    ( SELECT (count(*))::integer AS count
           FROM message_tries t
          WHERE ((t.experiment_id = p.experiment_id) AND ((p.ordinal >= t.first_ordinal) AND (p.ordinal <= t.last_ordinal)))) AS tries,
    m.handled_at
   FROM (inbox m
     LEFT JOIN pending_messages p ON (((p.experiment_id = m.experiment_id) AND (p.ordinal = m.ordinal))));
view organization_staff as
 SELECT m.organization_id,
    m.user_id,
    m.is_owner,
    m.is_admin,
    m.is_member,
    m.created_at
   FROM (organization_members m
     JOIN users u ON (((u.id = m.user_id) AND (u.deleted_at IS NULL))));
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
