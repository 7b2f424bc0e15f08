alter table uploads
  -- since when its rows and refused records wait to be taken out of the lake again; null: they stay
  add column withdraw_requested_at timestamptz,
  add column withdrawn_at timestamptz,
  add check (withdrawn_at >= withdraw_requested_at);
