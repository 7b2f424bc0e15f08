-- grain: one kind of values of one column of the file: how many values are of it
-- key: name, kind
-- from: bronze_sent
select name, {{kind}} as kind, count(*) as many
from (select *, {{parts}} from (select name, sent, bare(sent) as b
  from (unpivot (select {{columns}} from bronze_sent {{limit}}) on {{columns}} into name name value sent)))
group by all
