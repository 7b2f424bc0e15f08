-- Up Migration
-- Every row of a page is looked up by its id in these three. A B-tree of a million rows is a page deeper than one of ten thousand, and a list reads
-- that page once for each of its rows; a hash index finds a row by one page whatever the table holds.
create index resources_at on resources using hash (id);
create index experiments_at on experiments using hash (id);
create index grants_at on grants using hash (resource_id);
drop index grants_by_resource;
create index experiments_archived_at on experiments using hash (id) where status = 'archived';
drop index experiments_archived;
