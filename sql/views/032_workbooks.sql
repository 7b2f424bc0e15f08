-- Whether a workbook differs from its latest version: in its design, or in what a protocol or macro that it uses says, deletions included.
-- False without a version.
create or replace function workbook_drifted(workbook uuid) returns boolean language sql stable parallel safe
as $$
  select coalesce((
    select v.design_digest <> w.design_digest or exists (
      select
      from workbook_uses u
      left join macros m on u.resource_type = 'macro' and m.id = u.resource_id
      left join protocols p on u.resource_type = 'protocol' and p.id = u.resource_id
      left join workbook_version_uses then_used on then_used.version_id = v.id and then_used.resource_id = u.resource_id
      where u.workbook_id = w.id and coalesce(m.code_digest, p.code_digest) is distinct from then_used.code_digest)
    from workbooks w
    join lateral (select * from workbook_versions of_it where of_it.workbook_id = w.id order by of_it.version desc limit 1) v on true
    where w.id = workbook), false)
$$;
