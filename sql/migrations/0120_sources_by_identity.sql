-- Up Migration
-- No statement looks for the sources of a message or an upload, and every message paid for an entry.
drop index lake_sources_by_origin;
