-- Up Migration
-- Every row of a page is looked up by its id in these three. A B-tree of a million rows is a page deeper than one of ten thousand, and a list reads
-- that page once for each of its rows; a hash index finds a row by one page whatever the table holds.
create index resources_at on resources using hash (id);
create index experiments_at on experiments using hash (id);
create index grants_at on grants using hash (resource_id);
drop index grants_by_resource;

-- Lists leave archived experiments out: the resource says so itself, so that an organization's list is read from its index alone.
alter table resources add column is_archived boolean not null default false;
update resources set is_archived = true where id in (select id from experiments where status = 'archived');
create function mark_archived() returns trigger language plpgsql as $$
begin
  update resources set is_archived = not is_archived where id = new.id and is_archived <> (new.status = 'archived');
  return null;
end $$;
create trigger experiments_archive after insert or update of status on experiments for each row execute function mark_archived();
drop index resources_by_organization;
create index resources_by_organization on resources (organization_id, type, updated_at desc, id desc) include (is_archived);
drop index resources_public;
create index resources_public on resources (type, updated_at desc, id desc) include (is_archived) where visibility = 'public';
drop index experiments_archived;
