-- Up Migration
-- The window of a key as running totals: what it accepted is then a difference of two elements, not a sum over 61 (0.29 to 0.17 ms of the admission statement).

drop table api_key_windows;
drop function window_shifted(integer[], bigint), window_total(integer[]);

-- accepted[1] is the running total of accepted requests at the end of `second`, accepted[1 + n] that of n seconds before; unlogged: a crash forgets what one minute counted
create unlogged table api_key_windows (
  key_id uuid primary key references api_keys on delete cascade,
  second bigint not null,
  accepted bigint[] not null check (array_length(accepted, 1) = 62)
) with (fillfactor = 50);

-- requests that the window still holds `passed` seconds after its last
create function window_used(accepted bigint[], passed bigint) returns bigint language sql immutable parallel safe
  return case when passed > 60 then 0 else accepted[1] - accepted[62 - greatest(passed, 0)] end;

-- the window with one request more, `passed` seconds after its last
create function window_counted(accepted bigint[], passed bigint) returns bigint[] language sql immutable parallel safe
  return case
    when passed <= 0 then accepted[1] + 1 || accepted[2:62]
    when passed > 60 then 1::bigint || array_fill(0::bigint, array[61])
    else accepted[1] + 1 || (array_fill(accepted[1], array[passed::integer - 1]) || accepted[1:62 - passed::integer]) end;
