select case when list_contains([61, 43, 45, 64, 9, 13], ascii("c0")) then concat('''', "c0") else "c0" end as "c0", case when epoch_us("c1") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us("c1")))) || strftime(make_timestamp(epoch_us("c1")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us("c1") % 1000 = 0 then strftime(make_timestamp(epoch_us("c1")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c1")), '%Y-%m-%dT%H:%M:%S.%fZ') end end as "c1", case when "c2" is not null then concat(?, coalesce(cast(to_json("c2"."id") as varchar), 'null'), ?, coalesce(cast(to_json("c2"."name") as varchar), 'null'), ?, coalesce(cast(to_json("c2"."avatar") as varchar), 'null'), '}') end as "c2", case when "c3" is not null then concat('[', list_aggregate(list_transform("c3", lambda e0: coalesce(case when e0 is not null then concat(?, coalesce(cast(to_json(e0."id") as varchar), 'null'), ?, coalesce(cast(to_json(e0."rowId") as varchar), 'null'), ?, coalesce(cast(to_json(e0."type") as varchar), 'null'), ?, coalesce(case when e0."content" is not null then concat(?, coalesce(cast(to_json(e0."content"."text") as varchar), 'null'), ?, coalesce(cast(to_json(e0."content"."flagType") as varchar), 'null'), '}') end, 'null'), ?, coalesce(cast(to_json(e0."createdBy") as varchar), 'null'), ?, coalesce(cast(to_json(e0."createdByName") as varchar), 'null'), ?, coalesce('"' || case when epoch_us(e0."createdAt") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us(e0."createdAt")))) || strftime(make_timestamp(epoch_us(e0."createdAt")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us(e0."createdAt") % 1000 = 0 then strftime(make_timestamp(epoch_us(e0."createdAt")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us(e0."createdAt")), '%Y-%m-%dT%H:%M:%S.%fZ') end end || '"', 'null'), ?, coalesce('"' || case when epoch_us(e0."updatedAt") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us(e0."updatedAt")))) || strftime(make_timestamp(epoch_us(e0."updatedAt")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us(e0."updatedAt") % 1000 = 0 then strftime(make_timestamp(epoch_us(e0."updatedAt")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us(e0."updatedAt")), '%Y-%m-%dT%H:%M:%S.%fZ') end end || '"', 'null'), '}') end, 'null')), 'string_agg', ','), ']') end as "c3", cast("c4" as varchar) as "c4", cast("c5" as varchar) as "c5", cast("c6" as varchar) as "c6", cast("c7" as varchar) as "c7", case when isfinite("c8") then cast("c8" + 0 as varchar) end as "c8", case when list_contains([61, 43, 45, 64, 9, 13], ascii("c9")) then concat('''', "c9") else "c9" end as "c9", case when "c10" not between date '0000-01-01' and date '9999-12-31' then printf('%+07d', year("c10")) || strftime("c10", '-%m-%d') else strftime("c10", '%Y-%m-%d') end as "c10", case when epoch_us("c11") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us("c11")))) || strftime(make_timestamp(epoch_us("c11")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us("c11") % 1000 = 0 then strftime(make_timestamp(epoch_us("c11")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c11")), '%Y-%m-%dT%H:%M:%S.%fZ') end end as "c11", case when epoch_us("c12") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year("c12")) || strftime("c12", '-%m-%dT%H:%M:%S.%f') else case when epoch_us("c12") % 1000 = 0 then strftime("c12", '%Y-%m-%dT%H:%M:%S.%g') else strftime("c12", '%Y-%m-%dT%H:%M:%S.%f') end end as "c12", case when json_valid("c13") then "c13" else cast(to_json("c13") as varchar) end as "c13"
from (
  select "id" as "c0", "uploaded_at" as "c1", "contributor" as "c2", "annotations" as "c3", "bool" as "c4", "int" as "c5", "big" as "c6", "dec" as "c7", "dbl" as "c8", "txt" as "c9", "day" as "c10", "at" as "c11", "clock" as "c12", "json" as "c13"
  from (
    select *
    from (
      select *, cast([] as struct("id" varchar, "rowId" varchar, "type" varchar, "content" struct("text" varchar, "flagType" varchar), "createdBy" varchar, "createdByName" varchar, "createdAt" timestamptz, "updatedAt" timestamptz)[]) as "annotations"
      from (
        select l.*, r."contributor"
        from (
          select *
          from (
            select "id" as "id", "uploaded_at" as "uploaded_at", "contributor_id" as "contributor_id", "bool" as "bool", "int" as "int", "big" as "big", "dec" as "dec", "dbl" as "dbl", "txt" as "txt", "day" as "day", "at" as "at", "clock" as "clock", "json" as "json"
            from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
            where "experiment_id" = cast(? as varchar)
          )
          where "id" in (select "id" from (
            select *
            from (
              select "id" as "id", "uploaded_at" as "uploaded_at"
              from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
              where "experiment_id" = cast(? as varchar)
            )
            order by "uploaded_at" asc nulls last, "id" asc nulls last
            limit ?
          ))
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

-- STRING: {"id":
-- STRING: ,"name":
-- STRING: ,"avatar":
-- STRING: {"id":
-- STRING: ,"rowId":
-- STRING: ,"type":
-- STRING: ,"content":
-- STRING: {"text":
-- STRING: ,"flagType":
-- STRING: ,"createdBy":
-- STRING: ,"createdByName":
-- STRING: ,"createdAt":
-- STRING: ,"updatedAt":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"contributor_id":{"name":"contributor_id","type":"varchar","default_value":null},"bool":{"name":"bool","type":"boolean","default_value":null},"int":{"name":"int","type":"integer","default_value":null},"big":{"name":"big","type":"bigint","default_value":null},"dec":{"name":"dec","type":"decimal(12, 3)","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null},"day":{"name":"day","type":"date","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null},"clock":{"name":"clock","type":"timestamp","default_value":null},"json":{"name":"json","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"user_id":{"name":"user_id","type":"varchar","default_value":null},"name":{"name":"name","type":"varchar","default_value":null},"avatar":{"name":"avatar","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
