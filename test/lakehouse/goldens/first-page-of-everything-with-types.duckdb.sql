select cast("c0" as varchar) as "c0", cast("c1" as timestamptz) as "c1", cast("c2" as struct("id" varchar, "name" varchar, "avatar" varchar)) as "c2", cast("c3" as struct("id" varchar, "rowId" varchar, "type" varchar, "content" struct("text" varchar, "flagType" varchar), "createdBy" varchar, "createdByName" varchar, "createdAt" timestamptz, "updatedAt" timestamptz)[]) as "c3", cast("c4" as boolean) as "c4", cast("c5" as integer) as "c5", cast("c6" as bigint) as "c6", cast("c7" as decimal(12, 3)) as "c7", cast("c8" as double) as "c8", cast("c9" as varchar) as "c9", cast("c10" as date) as "c10", cast("c11" as timestamptz) as "c11", cast("c12" as timestamp) as "c12", cast(case when json_valid("c13") then "c13" else cast(to_json("c13") as varchar) end as varchar) as "c13"
from (
  select "id" as "c0", "uploaded_at" as "c1", "contributor" as "c2", "annotations" as "c3", "bool" as "c4", "int" as "c5", "big" as "c6", "dec" as "c7", "dbl" as "c8", "txt" as "c9", "day" as "c10", "at" as "c11", "clock" as "c12", "json" as "c13"
  from (
    select *
    from (
      select *, cast([] as struct("id" varchar, "rowId" varchar, "type" varchar, "content" struct("text" varchar, "flagType" varchar), "createdBy" varchar, "createdByName" varchar, "createdAt" timestamptz, "updatedAt" timestamptz)[]) as "annotations"
      from (
        select l.*, r."contributor"
        from (
          select "id" as "id", "uploaded_at" as "uploaded_at", "contributor_id" as "contributor_id", "bool" as "bool", "int" as "int", "big" as "big", "dec" as "dec", "dbl" as "dbl", "txt" as "txt", "day" as "day", "at" as "at", "clock" as "clock", "json" as "json"
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
    )
    order by "uploaded_at" asc nulls last, "id" asc nulls last
  )
)

-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"contributor_id":{"name":"contributor_id","type":"varchar","default_value":null},"bool":{"name":"bool","type":"boolean","default_value":null},"int":{"name":"int","type":"integer","default_value":null},"big":{"name":"big","type":"bigint","default_value":null},"dec":{"name":"dec","type":"decimal(12, 3)","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null},"day":{"name":"day","type":"date","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null},"clock":{"name":"clock","type":"timestamp","default_value":null},"json":{"name":"json","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"user_id":{"name":"user_id","type":"varchar","default_value":null},"name":{"name":"name","type":"varchar","default_value":null},"avatar":{"name":"avatar","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
