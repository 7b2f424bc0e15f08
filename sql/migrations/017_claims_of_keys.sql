-- each call that claims a key has an id of its own: it gives back, and answers, only what it holds itself
-- the default is for servers of the version before, which run beside it until they are replaced
alter table idempotency_keys add column claim uuid not null default gen_random_uuid();
