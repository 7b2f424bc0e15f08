-- work that failed is begun again after a pause, and holds back no other meanwhile

-- not carried out before this time
alter table registry_changes add column next_at timestamptz not null default now();
