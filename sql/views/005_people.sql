-- The name that is shown for an account: a closed one is Deleted User, one without an active profile Unknown User.
create or replace view people as
select
  u.id as user_id,
  case when u.deleted_at is not null then 'Deleted' when p.activated then p.first_name else 'Unknown' end as first_name,
  case when p.activated and u.deleted_at is null then p.last_name else 'User' end as last_name,
  case when p.activated and u.deleted_at is null then p.avatar_url end as avatar_url,
  case when p.activated and u.deleted_at is null then u.email end as email,
  coalesce(p.activated, false) and u.deleted_at is null as is_active
from users u
left join profiles p on p.user_id = u.id;

-- Whether an API key opens anything now.
create or replace function key_stands(key api_keys) returns boolean language sql stable parallel safe
  return key.enabled and key.revoked_at is null and (key.expires_at is null or key.expires_at > now());
