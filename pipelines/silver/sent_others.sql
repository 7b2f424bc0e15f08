-- grain: one column of the file of which most values are of one kind: how many different values are of another, and the commonest of them
-- key: name
-- from: bronze_sent
select name, count(*) as different, to_json(list(value order by many desc, value)[:{{shown}}])::varchar as commonest
from (select name, left(b, {{letters}}) as value, count(*) as many
  from (select *, text_class(b) as t from (select name, sent, bare(sent) as b
    from (unpivot (select {{columns}} from bronze_sent) on {{columns}} into name name value sent)))
  where not is_unsaid(sent) and not coalesce({{fits}}, false)
  group by all)
group by name
