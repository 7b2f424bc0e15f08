-- The role that the application runs as. Audit events can be added and read, never changed or taken away.
do $$
begin
  if not exists (select from pg_roles where rolname = 'fieldlake_app') then
    begin
      create role fieldlake_app nologin;
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  -- who made a role and is no superuser is a member who may not act as it
  if not pg_has_role(current_user, 'fieldlake_app', 'set') then
    execute format('grant fieldlake_app to %I', current_user);
  end if;
end $$;
grant usage on schema public to fieldlake_app;
grant select, insert, update, delete on all tables in schema public to fieldlake_app;
grant usage, select on all sequences in schema public to fieldlake_app;
grant execute on all functions in schema public to fieldlake_app;
revoke update, delete, truncate on audit_events from fieldlake_app;
revoke insert, update, delete on schema_migrations from fieldlake_app;
