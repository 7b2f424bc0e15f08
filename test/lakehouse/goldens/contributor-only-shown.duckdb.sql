select concat(cast(? as varchar), coalesce(case when "c0" is not null then concat(?, coalesce(cast(to_json("c0"."id") as varchar), 'null'), ?, coalesce(cast(to_json("c0"."name") as varchar), 'null'), ?, coalesce(cast(to_json("c0"."avatar") as varchar), 'null'), '}') end, 'null'), cast(? as varchar), coalesce(cast("c1" as varchar), 'null'), '}') as "line"
from (
  select "contributor" as "c0", "int" as "c1"
  from (
    select *
    from (
      select l.*, r."contributor"
      from (
        select *
        from (
          select "id" as "id", "uploaded_at" as "uploaded_at", "contributor_id" as "contributor_id", "int" as "int"
          from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
          where "experiment_id" = cast(? as varchar)
        )
        order by "uploaded_at" asc nulls last, "id" asc nulls last
        limit ?
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
    order by "uploaded_at" asc nulls last, "id" asc nulls last
  )
)

-- STRING: {"contributor":
-- STRING: {"id":
-- STRING: ,"name":
-- STRING: ,"avatar":
-- STRING: ,"int":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"contributor_id":{"name":"contributor_id","type":"varchar","default_value":null},"int":{"name":"int","type":"integer","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 11
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"user_id":{"name":"user_id","type":"varchar","default_value":null},"name":{"name":"name","type":"varchar","default_value":null},"avatar":{"name":"avatar","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
