-- a log is also read by what was done; who did it and what it was done to have indexes of their own
create index audit_events_by_action on audit_events (organization_id, action, at desc);
