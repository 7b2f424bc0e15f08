select concat(cast(? as STRING), coalesce(case when `c0` is not null then substring(to_json(array(`c0`)), 2, length(to_json(array(`c0`))) - 2) end, 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c1`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), cast(? as STRING), coalesce(case when `c2` is not null then concat(?, coalesce(case when `c2`.`id` is not null then substring(to_json(array(`c2`.`id`)), 2, length(to_json(array(`c2`.`id`))) - 2) end, 'null'), ?, coalesce(case when `c2`.`name` is not null then substring(to_json(array(`c2`.`name`)), 2, length(to_json(array(`c2`.`name`))) - 2) end, 'null'), ?, coalesce(case when `c2`.`avatar` is not null then substring(to_json(array(`c2`.`avatar`)), 2, length(to_json(array(`c2`.`avatar`))) - 2) end, 'null'), '}') end, 'null'), cast(? as STRING), coalesce(cast(`c4` as STRING), 'null'), cast(? as STRING), coalesce(cast(`c5` as STRING), 'null'), cast(? as STRING), coalesce(case when `c6` between -9007199254740992 and 9007199254740992 then cast(`c6` as STRING) else concat('"', cast(`c6` as STRING), '"') end, 'null'), cast(? as STRING), coalesce(concat('"', cast(`c7` as STRING), '"'), 'null'), cast(? as STRING), coalesce(case when abs(`c8`) < cast('Infinity' as DOUBLE) then cast(`c8` + 0 as STRING) end, 'null'), cast(? as STRING), coalesce(case when `c9` is not null then substring(to_json(array(`c9`)), 2, length(to_json(array(`c9`))) - 2) end, 'null'), cast(? as STRING), coalesce(concat('"', case when year(`c10`) not between 0 and 9999 then concat(format_string('%+07d', year(`c10`)), date_format(`c10`, '-MM-dd')) else date_format(`c10`, 'yyyy-MM-dd') end, '"'), 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00')) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'))), date_format(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'), "-MM-dd'T'HH:mm:ss.SSSSSS'Z'")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00')) % 1000 = 0 then date_format(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'") else date_format(timestampadd(MICROSECOND, unix_micros(`c11`), timestamp_ntz'1970-01-01 00:00:00'), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") end end, '"'), 'null'), cast(? as STRING), coalesce(concat('"', case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `c12`) not between -62167219200000000 and 253402300799999999 then concat(format_string('%+07d', year(`c12`)), date_format(`c12`, "-MM-dd'T'HH:mm:ss.SSSSSS")) else case when timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `c12`) % 1000 = 0 then date_format(`c12`, "yyyy-MM-dd'T'HH:mm:ss.SSS") else date_format(`c12`, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS") end end, '"'), 'null'), cast(? as STRING), coalesce(case when try_parse_json(`c13`) is not null then `c13` else case when `c13` is not null then substring(to_json(array(`c13`)), 2, length(to_json(array(`c13`))) - 2) end end, 'null'), '}') as `line`
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
              select *
              from (
                select `id` as `id`, `uploaded_at` as `uploaded_at`, `txt` as `txt`
                from delta.`s3://field-lake/tables/rows` version as of 7
                where `experiment_id` = cast(? as STRING)
              )
              where (contains(`txt`, cast(? as STRING))) and (startswith(`txt`, cast(? as STRING))) and (`txt` in (cast(? as STRING), cast(? as STRING)))
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
-- STRING: ,"uploaded_at":
-- STRING: ,"contributor":
-- STRING: {"id":
-- STRING: ,"name":
-- STRING: ,"avatar":
-- STRING: ,"annotations":[],"bool":
-- STRING: ,"int":
-- STRING: ,"big":
-- STRING: ,"dec":
-- STRING: ,"dbl":
-- STRING: ,"txt":
-- STRING: ,"day":
-- STRING: ,"at":
-- STRING: ,"clock":
-- STRING: ,"json":
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 01990000-0000-7000-8000-000000000001
-- STRING: 50%_
-- STRING: a
-- STRING: a
-- STRING: b
-- BIGINT: 100
-- STRING: id
-- STRING: name
-- STRING: avatar
-- STRING: 01990000-0000-7000-8000-000000000001
