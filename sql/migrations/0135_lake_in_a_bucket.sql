-- Up Migration
-- What a file held when it was written, so that a copy of it is known to be whole; null in files of before it was noted.
alter table lake_files add column sha256 bytea check (octet_length(sha256) = 32);

-- Where the lake of this database lies: `folder`, or `s3://` and the name of a bucket. One row, since the first start.
create table lake_place (
  is_only boolean primary key default true check (is_only),
  place text not null check (place = 'folder' or place like 's3://%'),
  noted_at timestamptz not null default now()
);
-- until now there was no other place
insert into lake_place (place) select 'folder' where exists (select from lake_tables);
