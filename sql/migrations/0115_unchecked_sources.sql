-- Up Migration
-- Sources are claimed under the lock of their table, by the thousand: a look at the table for each of them was half of that work. They still go with it.
alter table lake_sources drop constraint lake_sources_table_id_fkey;
create function forget_lake_sources() returns trigger language plpgsql as $$
begin
  delete from lake_sources where table_id in (select id from gone);
  return null;
end $$;
create trigger lake_tables_sources after delete on lake_tables referencing old table as gone for each statement execute function forget_lake_sources();
