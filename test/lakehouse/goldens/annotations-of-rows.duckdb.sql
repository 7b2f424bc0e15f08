select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce(case when "c1" is not null then concat('[', list_aggregate(list_transform("c1", lambda e0: coalesce(case when e0 is not null then concat(?, coalesce(cast(to_json(e0."id") as varchar), 'null'), ?, coalesce(cast(to_json(e0."rowId") as varchar), 'null'), ?, coalesce(cast(to_json(e0."type") as varchar), 'null'), ?, coalesce(case when e0."content" is not null then concat(?, coalesce(cast(to_json(e0."content"."text") as varchar), 'null'), ?, coalesce(cast(to_json(e0."content"."flagType") as varchar), 'null'), '}') end, 'null'), ?, coalesce(cast(to_json(e0."createdBy") as varchar), 'null'), ?, coalesce(cast(to_json(e0."createdByName") as varchar), 'null'), ?, coalesce('"' || case when epoch_us(e0."createdAt") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us(e0."createdAt")))) || strftime(make_timestamp(epoch_us(e0."createdAt")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us(e0."createdAt") % 1000 = 0 then strftime(make_timestamp(epoch_us(e0."createdAt")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us(e0."createdAt")), '%Y-%m-%dT%H:%M:%S.%fZ') end end || '"', 'null'), ?, coalesce('"' || case when epoch_us(e0."updatedAt") not between -62167219200000000 and 253402300799999999 then printf('%+07d', year(make_timestamp(epoch_us(e0."updatedAt")))) || strftime(make_timestamp(epoch_us(e0."updatedAt")), '-%m-%dT%H:%M:%S.%fZ') else case when epoch_us(e0."updatedAt") % 1000 = 0 then strftime(make_timestamp(epoch_us(e0."updatedAt")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us(e0."updatedAt")), '%Y-%m-%dT%H:%M:%S.%fZ') end end || '"', 'null'), '}') end, 'null')), 'string_agg', ','), ']') end, 'null'), '}') as "line"
from (
  select "id" as "c0", "annotations" as "c1"
  from (
    select *
    from (
      select *, coalesce("written", cast([] as struct("id" varchar, "rowId" varchar, "type" varchar, "content" struct("text" varchar, "flagType" varchar), "createdBy" varchar, "createdByName" varchar, "createdAt" timestamptz, "updatedAt" timestamptz)[])) as "annotations"
      from (
        select l.*, r."written"
        from (
          select *
          from (
            select "id" as "id", "uploaded_at" as "uploaded_at"
            from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
            where "experiment_id" = cast(? as varchar)
          )
          order by "uploaded_at" asc nulls last, "id" asc nulls last
          limit ?
        ) as l
        left join (select "row_id", "written" as "written" from (
          select "row_id" as "row_id", list(case when "id" is not null then struct_pack("id" := "id", "rowId" := "row_id", "type" := "type", "content" := case when "id" is not null then struct_pack("text" := "content_text", "flagType" := "flag_type") end, "createdBy" := "author_id", "createdByName" := "author_name", "createdAt" := "created_at", "updatedAt" := "updated_at") end order by "created_at" asc nulls last, "id" asc nulls last) as "written"
          from (
            select l.*, r."author_id", r."author_name"
            from (
              select "id" as "id", "last"."table_id" as "table_id", "last"."row_id" as "row_id", "last"."type" as "type", "last"."content_text" as "content_text", "last"."flag_type" as "flag_type", "last"."created_by" as "created_by", "last"."created_at" as "created_at", "last"."updated_at" as "updated_at"
              from (
                select *
                from (
                  select "id" as "id", first(case when "id" is not null then struct_pack("table_id" := "table_id", "row_id" := "row_id", "type" := "type", "content_text" := "content_text", "flag_type" := "flag_type", "created_by" := "created_by", "created_at" := "created_at", "updated_at" := "updated_at") end order by "sequence" desc nulls last) filter (where case when "id" is not null then struct_pack("table_id" := "table_id", "row_id" := "row_id", "type" := "type", "content_text" := "content_text", "flag_type" := "flag_type", "created_by" := "created_by", "created_at" := "created_at", "updated_at" := "updated_at") end is not null) as "last", max("deleted") as "ended"
                  from (
                    select *
                    from (
                      select "table_id" as "table_id", "row_id" as "row_id", "id" as "id", "sequence" as "sequence", "deleted" as "deleted", "type" as "type", "content_text" as "content_text", "flag_type" as "flag_type", "created_by" as "created_by", "created_at" as "created_at", "updated_at" as "updated_at"
                      from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
                      where "experiment_id" = cast(? as varchar)
                    )
                    where "table_id" = cast(? as varchar)
                  )
                  group by 1
                )
                where "ended" = cast(? as boolean)
              )
            ) as l
            left join (select "user_id", "user_id" as "author_id", "name" as "author_name" from (
              select "user_id" as "user_id", max("name") as "name"
              from (
                select "user_id" as "user_id", "name" as "name"
                from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
                where "experiment_id" = cast(? as varchar)
              )
              group by 1
            )) as r on l."created_by" = r."user_id"
          )
          group by 1
        )) as r on l."id" = r."row_id"
      )
    )
    order by "uploaded_at" asc nulls last, "id" asc nulls last
  )
)

-- STRING: {"id":
-- STRING: ,"annotations":
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
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 11
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"table_id":{"name":"table_id","type":"varchar","default_value":null},"row_id":{"name":"row_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"sequence":{"name":"sequence","type":"bigint","default_value":null},"deleted":{"name":"deleted","type":"boolean","default_value":null},"type":{"name":"type","type":"varchar","default_value":null},"content_text":{"name":"content_text","type":"varchar","default_value":null},"flag_type":{"name":"flag_type","type":"varchar","default_value":null},"created_by":{"name":"created_by","type":"varchar","default_value":null},"created_at":{"name":"created_at","type":"timestamptz","default_value":null},"updated_at":{"name":"updated_at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-0000000000aa
-- BOOLEAN: false
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"user_id":{"name":"user_id","type":"varchar","default_value":null},"name":{"name":"name","type":"varchar","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
