-- Up Migration
-- How many rows of a file have each value of a column with few of them, so that what a filter on one keeps is counted without opening the file. Files never change, and
-- what is said of one goes with it.
create table lake_file_values (
  file_id uuid not null references lake_files on delete cascade,
  -- the column, and its type when the values were looked at: a column that has widened since reads other values
  name text not null,
  type text not null,
  -- rows by the text of their value
  counts jsonb not null,
  nulls bigint not null check (nulls >= 0),
  primary key (file_id, name)
);

alter table lake_files add column values_noted boolean not null default false;
create index lake_files_not_noted on lake_files (table_id, row_count) where to_version is null and not values_noted;
