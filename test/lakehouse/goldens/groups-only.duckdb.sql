select concat(cast(? as varchar), coalesce(cast("c0" as varchar), 'null'), cast(? as varchar), coalesce(cast(to_json("c1") as varchar), 'null'), '}') as "line"
from (
  select *
  from (
    select "bool" as "c0", "contributor"."name" as "c1"
    from (
      select l.*, r."contributor"
      from (
        select "contributor_id" as "contributor_id", "bool" as "bool"
        from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
        where "experiment_id" = cast(? as varchar)
      ) as l
      left join (select "user_id", case when "user_id" is not null then struct_pack("id" := "user_id", "name" := "name", "avatar" := "avatar") end as "contributor" from (
        select "user_id" as "user_id", max("name") as "name", max("avatar") as "avatar"
        from (
          select "user_id" as "user_id", "name" as "name", "avatar" as "avatar"
          from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
          where "experiment_id" = cast(? as varchar)
        )
        group by 1
      )) as r on l."contributor_id" = r."user_id"
    )
    group by 1, 2
  )
  order by "c0" asc nulls last, "c1" asc nulls last
  limit ?
)

-- STRING: {"bool":
-- STRING: ,"contributor.name":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"contributor_id":{"name":"contributor_id","type":"varchar","default_value":null},"bool":{"name":"bool","type":"boolean","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"user_id":{"name":"user_id","type":"varchar","default_value":null},"name":{"name":"name","type":"varchar","default_value":null},"avatar":{"name":"avatar","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
