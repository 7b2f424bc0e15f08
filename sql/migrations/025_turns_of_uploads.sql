alter table uploads
  -- lower ones are read first; uploads that one person has waiting stand one behind the other, and each person's first beside those of others
  add column turn integer not null default 0;
drop index uploads_by_creator;
create index uploads_by_creator on uploads (created_by, turn);
create index uploads_begun on uploads (turn) where started_at is not null;
