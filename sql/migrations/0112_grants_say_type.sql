-- Up Migration
-- A decision about one resource asks a grant for its type and nothing of the resource itself: with the type in the index the join to the resource is left out.
drop index grants_one_per_user;
drop index grants_one_per_team;
drop index grants_one_per_organization;
create unique index grants_one_per_user on grants (user_id, resource_id) include (confers_all, confers_read, resource_type) where user_id is not null;
create unique index grants_one_per_team on grants (team_id, resource_id) include (confers_all, confers_read, resource_type) where team_id is not null;
create unique index grants_one_per_organization on grants (organization_id, resource_id) include (confers_all, confers_read, resource_type)
  where organization_id is not null;
