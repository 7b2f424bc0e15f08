alter table upload_files
  -- how often it could not be read for a reason that is neither its own nor around the service
  add column tries integer not null default 0;
