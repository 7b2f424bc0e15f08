alter table webhook_endpoints
  -- whether its last accepted call took so long that it is called where it delays only others that are slow
  add column is_slow boolean not null default false;
