select concat(cast(? as varchar), coalesce(cast(to_json("c0") as varchar), 'null'), cast(? as varchar), coalesce(case when "c1" between -9007199254740992 and 9007199254740992 then cast("c1" as varchar) else '"' || cast("c1" as varchar) || '"' end, 'null'), cast(? as varchar), coalesce(case when "c2" between -9007199254740992 and 9007199254740992 then cast("c2" as varchar) else '"' || cast("c2" as varchar) || '"' end, 'null'), cast(? as varchar), coalesce(case when "c3" between -9007199254740992 and 9007199254740992 then cast("c3" as varchar) else '"' || cast("c3" as varchar) || '"' end, 'null'), cast(? as varchar), coalesce('"' || case when epoch_us("c4") % 1000 = 0 then strftime(make_timestamp(epoch_us("c4")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c4")), '%Y-%m-%dT%H:%M:%S.%fZ') end || '"', 'null'), cast(? as varchar), coalesce('"' || case when epoch_us("c5") % 1000 = 0 then strftime(make_timestamp(epoch_us("c5")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c5")), '%Y-%m-%dT%H:%M:%S.%fZ') end || '"', 'null'), cast(? as varchar), coalesce('"' || case when epoch_us("c6") % 1000 = 0 then strftime(make_timestamp(epoch_us("c6")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c6")), '%Y-%m-%dT%H:%M:%S.%fZ') end || '"', 'null'), cast(? as varchar), coalesce('"' || case when epoch_us("c7") % 1000 = 0 then strftime(make_timestamp(epoch_us("c7")), '%Y-%m-%dT%H:%M:%S.%gZ') else strftime(make_timestamp(epoch_us("c7")), '%Y-%m-%dT%H:%M:%S.%fZ') end || '"', 'null'), cast(? as varchar), coalesce(case when "c8" between -9007199254740992 and 9007199254740992 then cast("c8" as varchar) else '"' || cast("c8" as varchar) || '"' end, 'null'), cast(? as varchar), coalesce(case when isfinite("c9") then cast("c9" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c10") then cast("c10" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c11") then cast("c11" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c12") then cast("c12" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c13") then cast("c13" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c14") then cast("c14" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c15") then cast("c15" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce(case when isfinite("c16") then cast("c16" + 0 as varchar) end, 'null'), cast(? as varchar), coalesce('"' || cast("c17" as varchar) || '"', 'null'), cast(? as varchar), coalesce(case when isfinite("c18") then cast("c18" + 0 as varchar) end, 'null'), '}') as "line"
from (
  select *
  from (
    select "txt" as "c0", count(*) as "c1", count("at") as "c2", count(distinct "at") as "c3", min("at") as "c4", max("at") as "c5", first("at" order by "uploaded_at" asc nulls last, "id" asc nulls last) filter (where "at" is not null) as "c6", first("at" order by "uploaded_at" desc nulls last, "id" desc nulls last) filter (where "at" is not null) as "c7", cast(sum("int") as bigint) as "c8", avg("int") as "c9", case when count(*) filter (where not (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) = 0 then stddev_samp(cast("distance0" as double)) filter (where (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) end as "c10", case when count(*) filter (where not (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) = 0 then var_samp(cast("distance0" as double)) filter (where (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) end as "c11", (case when count(*) filter (where not (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) = 0 then stddev_samp(cast("distance0" as double)) filter (where (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) end) / sqrt(nullif(count("distance0"), 0)) as "c12", (case when count(*) filter (where not (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) = 0 then stddev_samp(cast("distance0" as double)) filter (where (isfinite(cast("distance0" as double)) and abs(cast("distance0" as double)) < 1e150)) end) / sqrt(nullif(count("distance0"), 0)) * case count("distance0") when 0 then null when 1 then null when 2 then 12.706204736174694e0 when 3 then 4.302652729749462e0 when 4 then 3.1824463052837078e0 when 5 then 2.7764451051977934e0 when 6 then 2.5705818356363146e0 when 7 then 2.4469118511449786e0 when 8 then 2.364624251592784e0 when 9 then 2.306004135204166e0 when 10 then 2.262157162798205e0 when 11 then 2.228138851986274e0 when 12 then 2.200985160091639e0 when 13 then 2.1788128296672284e0 else 1.959963984540054e0 + (2.372271230298562e0 + (2.8224986157396112e0 + (2.555849679507722e0 + 1.5895340533938225e0 / (count("distance0") - 1)) / (count("distance0") - 1)) / (count("distance0") - 1)) / (count("distance0") - 1) end as "c13", quantile_cont(cast("int" as double), 0.5) as "c14", quantile_cont(cast("int" as double), 0.05) as "c15", quantile_cont(cast("int" as double), 0.95) as "c16", cast(sum("dec") as decimal(38, 3)) as "c17", case when count(*) filter (where not (isfinite(cast("distance2" as double)) and abs(cast("distance2" as double)) < 1e150) and cast("distance1" as double) is not null or not (isfinite(cast("distance1" as double)) and abs(cast("distance1" as double)) < 1e150) and cast("distance2" as double) is not null) = 0 and not isnan(corr(cast("distance2" as double), cast("distance1" as double)) filter (where (isfinite(cast("distance2" as double)) and abs(cast("distance2" as double)) < 1e150) and (isfinite(cast("distance1" as double)) and abs(cast("distance1" as double)) < 1e150))) then greatest(-1, least(1, corr(cast("distance2" as double), cast("distance1" as double)) filter (where (isfinite(cast("distance2" as double)) and abs(cast("distance2" as double)) < 1e150) and (isfinite(cast("distance1" as double)) and abs(cast("distance1" as double)) < 1e150)))) end as "c18"
    from (
      select *, coalesce(cast(try_cast("int" as decimal(20, 0)) - try_cast("least0" as decimal(20, 0)) as double), cast("int" as double) - cast("least0" as double)) as "distance0", coalesce(cast(try_cast("int" as decimal(20, 0)) - try_cast("least1" as decimal(20, 0)) as double), cast("int" as double) - cast("least1" as double)) as "distance1", "dbl" - "least2" as "distance2"
      from (
        select *, cast(min("int") over (partition by "txt" ) as integer) as "least0", cast(min(case when "dbl" is not null then "int" end) over (partition by "txt" ) as integer) as "least1", cast(min(case when "int" is not null then "dbl" end) over (partition by "txt" ) as double) as "least2"
        from (
          select "id" as "id", "uploaded_at" as "uploaded_at", "int" as "int", "dec" as "dec", "dbl" as "dbl", "txt" as "txt", "at" as "at"
          from read_parquet(?, schema = cast(cast(? as json) as map(varchar, struct(name varchar, type varchar, default_value varchar))))
          where "experiment_id" = cast(? as varchar)
        )
      )
    )
    group by 1
  )
  order by "c0" asc nulls last
  limit ?
)

-- STRING: {"txt":
-- STRING: ,"count_count":
-- STRING: ,"at_count":
-- STRING: ,"at_count_distinct":
-- STRING: ,"at_min":
-- STRING: ,"at_max":
-- STRING: ,"at_first":
-- STRING: ,"at_last":
-- STRING: ,"int_sum":
-- STRING: ,"int_avg":
-- STRING: ,"int_std":
-- STRING: ,"int_var":
-- STRING: ,"int_sem":
-- STRING: ,"int_ci95":
-- STRING: ,"int_median":
-- STRING: ,"int_p05":
-- STRING: ,"int_p95":
-- STRING: ,"dec_sum":
-- STRING: ,"dbl_corr_int":
-- ARRAY<STRING>: ["rows.parquet"]
-- STRING: {"experiment_id":{"name":"experiment_id","type":"varchar","default_value":null},"id":{"name":"id","type":"varchar","default_value":null},"uploaded_at":{"name":"uploaded_at","type":"timestamptz","default_value":null},"int":{"name":"int","type":"integer","default_value":null},"dec":{"name":"dec","type":"decimal(12, 3)","default_value":null},"dbl":{"name":"dbl","type":"double","default_value":null},"txt":{"name":"txt","type":"varchar","default_value":null},"at":{"name":"at","type":"timestamptz","default_value":null}}
-- STRING: 01990000-0000-7000-8000-000000000001
-- BIGINT: 100001
