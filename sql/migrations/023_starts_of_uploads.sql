alter table uploads
  -- how often work on its files has begun since it last came to an end with the process alive
  add column starts integer not null default 0;
