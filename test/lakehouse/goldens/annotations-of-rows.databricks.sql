select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(concat('[', array_join(transform(`c1`, e0 -> coalesce(case when e0 is not null then concat(?, coalesce(case when e0.`id` is not null then substring(to_json(array(e0.`id`)), 2, length(to_json(array(e0.`id`))) - 2) end, 'null'), ?, coalesce(case when e0.`rowId` is not null then substring(to_json(array(e0.`rowId`)), 2, length(to_json(array(e0.`rowId`))) - 2) end, 'null'), ?, coalesce(case when e0.`type` is not null then substring(to_json(array(e0.`type`)), 2, length(to_json(array(e0.`type`))) - 2) end, 'null'), ?, coalesce(case when e0.`content` is not null then concat(?, coalesce(case when e0.`content`.`text` is not null then substring(to_json(array(e0.`content`.`text`)), 2, length(to_json(array(e0.`content`.`text`))) - 2) end, 'null'), ?, coalesce(case when e0.`content`.`flagType` is not null then substring(to_json(array(e0.`content`.`flagType`)), 2, length(to_json(array(e0.`content`.`flagType`))) - 2) end, 'null'), '}') end, 'null'), ?, coalesce(case when e0.`createdBy` is not null then substring(to_json(array(e0.`createdBy`)), 2, length(to_json(array(e0.`createdBy`))) - 2) end, 'null'), ?, coalesce(case when e0.`createdByName` is not null then substring(to_json(array(e0.`createdByName`)), 2, length(to_json(array(e0.`createdByName`))) - 2) end, 'null'), ?, coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), ?, coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), '}') end, 'null')), ','), ']'), 'null'), '}') as `line`
from (
  select `id` as `c0`, `annotations` as `c1`
  from (
    select *
    from (
      select *, coalesce(`written`, cast(array() as ARRAY<STRUCT<id: STRING, rowId: STRING, type: STRING, content: STRUCT<text: STRING, flagType: STRING>, createdBy: STRING, createdByName: STRING, createdAt: TIMESTAMP, updatedAt: TIMESTAMP>>)) as `annotations`
      from (
        select l.*, r.`written`
        from (
          select *
          from (
            select `id` as `id`, `uploaded_at` as `uploaded_at`
            from delta.`s3://field-lake/tables/rows` version as of 7
            where `experiment_id` = cast(? as STRING)
          )
          order by `uploaded_at` asc nulls last, `id` asc nulls last
          limit ?
        ) as l
        left join (select `row_id`, `written` as `written` from (
          select `row_id` as `row_id`, transform(array_sort(collect_list(struct(struct(`created_at` is null, `created_at`, `id` is null, `id`) as k, case when `id` is not null then named_struct(?, `id`, ?, `row_id`, ?, `type`, ?, case when `id` is not null then named_struct(?, `content_text`, ?, `flag_type`) end, ?, `author_id`, ?, `author_name`, ?, `created_at`, ?, `updated_at`) end as v))), e -> e.v) as `written`
          from (
            select l.*, r.`author_id`, r.`author_name`
            from (
              select `id` as `id`, `last`.`table_id` as `table_id`, `last`.`row_id` as `row_id`, `last`.`type` as `type`, `last`.`content_text` as `content_text`, `last`.`flag_type` as `flag_type`, `last`.`created_by` as `created_by`, `last`.`created_at` as `created_at`, `last`.`updated_at` as `updated_at`
              from (
                select *
                from (
                  select `id` as `id`, max_by(case when `id` is not null then named_struct(?, `table_id`, ?, `row_id`, ?, `type`, ?, `content_text`, ?, `flag_type`, ?, `created_by`, ?, `created_at`, ?, `updated_at`) end, struct(`sequence` is not null, `sequence`)) filter (where case when `id` is not null then named_struct(?, `table_id`, ?, `row_id`, ?, `type`, ?, `content_text`, ?, `flag_type`, ?, `created_by`, ?, `created_at`, ?, `updated_at`) end is not null) as `last`, max(`deleted`) as `ended`
                  from (
                    select *
                    from (
                      select `table_id` as `table_id`, `row_id` as `row_id`, `id` as `id`, `sequence` as `sequence`, `deleted` as `deleted`, `type` as `type`, `content_text` as `content_text`, `flag_type` as `flag_type`, `created_by` as `created_by`, `created_at` as `created_at`, `updated_at` as `updated_at`
                      from delta.`s3://field-lake/tables/annotations` version as of 7
                      where `experiment_id` = cast(? as STRING)
                    )
                    where `table_id` = cast(? as STRING)
                  )
                  group by 1
                )
                where `ended` = cast(? as BOOLEAN)
              )
            ) as l
            left join (select `user_id`, `user_id` as `author_id`, `name` as `author_name` from (
              select `user_id` as `user_id`, max(`name`) as `name`
              from (
                select `user_id` as `user_id`, `name` as `name`
                from delta.`s3://field-lake/tables/people` version as of 7
                where `experiment_id` = cast(? as STRING)
              )
              group by 1
            )) as r on l.`created_by` = r.`user_id`
          )
          group by 1
        )) as r on l.`id` = r.`row_id`
      )
    )
    order by `uploaded_at` asc nulls last, `id` asc nulls last
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
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 11
-- STRING: id
-- STRING: rowId
-- STRING: type
-- STRING: content
-- STRING: text
-- STRING: flagType
-- STRING: createdBy
-- STRING: createdByName
-- STRING: createdAt
-- STRING: updatedAt
-- STRING: table_id
-- STRING: row_id
-- STRING: type
-- STRING: content_text
-- STRING: flag_type
-- STRING: created_by
-- STRING: created_at
-- STRING: updated_at
-- STRING: table_id
-- STRING: row_id
-- STRING: type
-- STRING: content_text
-- STRING: flag_type
-- STRING: created_by
-- STRING: created_at
-- STRING: updated_at
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-0000000000aa
-- BOOLEAN: false
-- STRING: 01990000-0000-7000-8000-000000000001
