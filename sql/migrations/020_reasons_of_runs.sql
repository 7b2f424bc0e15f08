alter table macro_reprocesses
  -- why it could not be run over anything, for a person to read
  add column note text;
