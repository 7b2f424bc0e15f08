select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(case when `c1` is not null then substring(to_json(array(`c1`)), 2, length(to_json(array(`c1`))) - 2) end, 'null'), '}') as `line`
from (
  select `id` as `c0`, `txt` as `c1`
  from (
    select *
    from (
      select *
      from (
        select *, coalesce(`written`, cast(array() as ARRAY<STRUCT<id: STRING, rowId: STRING, type: STRING, content: STRUCT<text: STRING, flagType: STRING>, createdBy: STRING, createdByName: STRING, createdAt: TIMESTAMP, updatedAt: TIMESTAMP>>)) as `annotations`
        from (
          select l.*, r.`written`
          from (
            select `id` as `id`, `uploaded_at` as `uploaded_at`, `txt` as `txt`
            from delta.`s3://field-lake/tables/rows` version as of 7
            where `experiment_id` = cast(? as STRING)
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
      where (coalesce(exists(`annotations`, e -> e.`content`.`flagType` in (cast(? as STRING), cast(? as STRING))), false)) and (not coalesce(exists(`annotations`, e -> e.`content`.`flagType` in (cast(? as STRING))), false))
    )
    order by `uploaded_at` asc nulls last, `id` asc nulls last
    limit ?
  )
)

-- STRING: {"id":
-- STRING: ,"txt":
-- STRING: 01990000-0000-7000-8000-000000000001
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
-- STRING: outlier
-- STRING: needs_review
-- STRING: outlier
-- BIGINT: 100
