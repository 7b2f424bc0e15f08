-- Up Migration
-- Replay: records that were refused are read again from the bytes that were sent.

-- since when the file waits for its refused records to be read again; null: it does not
alter table upload_files add column replay_requested_at timestamptz;
