-- work that failed is begun again after a pause, and holds back no other meanwhile

-- not carried out before this time
alter table registry_changes add column next_at timestamptz not null default now();

alter table macro_reprocesses
  -- how often it was begun in vain
  add column tries integer not null default 0,
  -- not begun before this time
  add column next_at timestamptz not null default now();
