alter table lake_place
  -- what the object "id" of the lake holds; null until a process has opened the lake there
  add column lake_id text;
