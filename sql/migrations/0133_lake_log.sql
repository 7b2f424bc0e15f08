-- Up Migration
-- Every version of a lake table is an entry of that table's Delta log. Its bytes are fixed here, in the transaction that makes the version, until they are published:
-- whoever publishes, and however often, writes the same ones.
create table lake_log (
  table_id uuid not null references lake_tables on delete cascade,
  version bigint not null,
  entry text not null,
  -- what the log says of the table's columns after this version; where it is given, a checkpoint follows the entry
  state jsonb,
  created_at timestamptz not null default now(),
  primary key (table_id, version)
);

alter table lake_tables
  -- null: the table has no log yet, as it never had a file, or one of before there were logs
  add column log_state jsonb,
  add column published_version bigint check (published_version <= version);
