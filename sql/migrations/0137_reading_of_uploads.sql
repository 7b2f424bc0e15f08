-- Up Migration
-- What an upload says of how its files are read: missing, decimal, dateOrder, types.
alter table uploads add column reading jsonb not null default '{}';
