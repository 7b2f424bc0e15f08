select case when ascii(`c0`) in (61, 43, 45, 64, 9, 13) then concat('\'', `c0`) else `c0` end as `c0`, case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end as `c1`, case when `c2` is not null then concat(?, coalesce(case when `c2`.`id` is not null then substring(to_json(array(`c2`.`id`)), 2, length(to_json(array(`c2`.`id`))) - 2) end, 'null'), ?, coalesce(case when `c2`.`name` is not null then substring(to_json(array(`c2`.`name`)), 2, length(to_json(array(`c2`.`name`))) - 2) end, 'null'), ?, coalesce(case when `c2`.`avatar` is not null then substring(to_json(array(`c2`.`avatar`)), 2, length(to_json(array(`c2`.`avatar`))) - 2) end, 'null'), '}') end as `c2`, concat('[', array_join(transform(`c3`, e0 -> coalesce(case when e0 is not null then concat(?, coalesce(case when e0.`id` is not null then substring(to_json(array(e0.`id`)), 2, length(to_json(array(e0.`id`))) - 2) end, 'null'), ?, coalesce(case when e0.`rowId` is not null then substring(to_json(array(e0.`rowId`)), 2, length(to_json(array(e0.`rowId`))) - 2) end, 'null'), ?, coalesce(case when e0.`type` is not null then substring(to_json(array(e0.`type`)), 2, length(to_json(array(e0.`type`))) - 2) end, 'null'), ?, coalesce(case when e0.`content` is not null then concat(?, coalesce(case when e0.`content`.`text` is not null then substring(to_json(array(e0.`content`.`text`)), 2, length(to_json(array(e0.`content`.`text`))) - 2) end, 'null'), ?, coalesce(case when e0.`content`.`flagType` is not null then substring(to_json(array(e0.`content`.`flagType`)), 2, length(to_json(array(e0.`content`.`flagType`))) - 2) end, 'null'), '}') end, 'null'), ?, coalesce(case when e0.`createdBy` is not null then substring(to_json(array(e0.`createdBy`)), 2, length(to_json(array(e0.`createdBy`))) - 2) end, 'null'), ?, coalesce(case when e0.`createdByName` is not null then substring(to_json(array(e0.`createdByName`)), 2, length(to_json(array(e0.`createdByName`))) - 2) end, 'null'), ?, coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(e0.`createdAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), ?, coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(e0.`updatedAt`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), '}') end, 'null')), ','), ']') as `c3`, cast(`c4` as STRING) as `c4`, cast(`c5` as STRING) as `c5`, cast(`c6` as STRING) as `c6`, cast(`c7` as STRING) as `c7`, case when abs(`c8`) < cast('Infinity' as DOUBLE) then cast(`c8` + 0 as STRING) end as `c8`, case when ascii(`c9`) in (61, 43, 45, 64, 9, 13) then concat('\'', `c9`) else `c9` end as `c9`, case when year(`c10`) not between 0 and 9999 then concat(format_string('%+07d', year(`c10`)), date_format(`c10`, '-MM-dd')) else date_format(`c10`, 'yyyy-MM-dd') end as `c10`, case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end as `c11`, case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `c12`) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(`c12`)), date_format(`c12`, "-MM-dd'T'HH:mm:ss.SSSSSS")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `c12`) % 1000 = 0 then date_format(`c12`, "yyyy-MM-dd'T'HH:mm:ss.SSS") else date_format(`c12`, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS") end end as `c12`, case when try_parse_json(`c13`) is not null then `c13` else case when `c13` is not null then substring(to_json(array(`c13`)), 2, length(to_json(array(`c13`))) - 2) end end as `c13`
from (
  select `id` as `c0`, `uploaded_at` as `c1`, `contributor` as `c2`, `annotations` as `c3`, `bool` as `c4`, `int` as `c5`, `big` as `c6`, `dec` as `c7`, `dbl` as `c8`, `txt` as `c9`, `day` as `c10`, `at` as `c11`, `clock` as `c12`, `json` as `c13`
  from (
    select *
    from (
      select *, cast(array() as ARRAY<STRUCT<id: STRING, rowId: STRING, type: STRING, content: STRUCT<text: STRING, flagType: STRING>, createdBy: STRING, createdByName: STRING, createdAt: TIMESTAMP, updatedAt: TIMESTAMP>>) as `annotations`
      from (
        select l.*, r.`contributor`
        from (
          select *
          from (
            select `id` as `id`, `uploaded_at` as `uploaded_at`, `contributor_id` as `contributor_id`, `bool` as `bool`, `int` as `int`, `big` as `big`, `dec` as `dec`, `dbl` as `dbl`, `txt` as `txt`, `day` as `day`, `at` as `at`, `clock` as `clock`, `json` as `json`
            from delta.`s3://field-lake/tables/rows` version as of 7
            where `experiment_id` = cast(? as STRING)
          )
          where `id` in (select `id` from (
            select *
            from (
              select `id` as `id`, `uploaded_at` as `uploaded_at`
              from delta.`s3://field-lake/tables/rows` version as of 7
              where `experiment_id` = cast(? as STRING)
            )
            order by `uploaded_at` asc nulls last, `id` asc nulls last
            limit ?
          ))
        ) as l
        left join (select `user_id`, case when `user_id` is not null then named_struct(?, `user_id`, ?, `name`, ?, `avatar`) end as `contributor` from (
          select `user_id` as `user_id`, max(`name`) as `name`, max(`avatar`) as `avatar`
          from (
            select `user_id` as `user_id`, `name` as `name`, `avatar` as `avatar`
            from delta.`s3://field-lake/tables/people` version as of 7
            where `experiment_id` = cast(? as STRING)
          )
          group by 1
        )) as r on l.`contributor_id` = r.`user_id`
      )
    )
    order by `uploaded_at` asc nulls last, `id` asc nulls last
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
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100
-- STRING: id
-- STRING: name
-- STRING: avatar
-- STRING: 01990000-0000-7000-8000-000000000001
