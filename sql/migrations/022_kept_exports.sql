-- what a person keeps is summed before they export more
create index exports_kept on exports (created_by) where status = 'completed' and expired_at is null;
