-- Up Migration
-- A person reads what was done to them as well as what they did.
create index audit_events_by_subject on audit_events (subject_id, at desc);
