-- What an expert writes who knows the file and answers for every value: all read as text, cast, and checked to be what was sent, because a cast alone makes 13 of 12.6
-- and 7 of 007; the columns of an upload table, row ids in the file's order, sorted, one Parquet file. It refuses no record by itself, and keeps no odd value.
copy (
  select
    '{{source}}' || printf('%012x', row_number() over () - 1) as id,
    now() as uploaded_at,
    '{{source}}' as experiment_id,
    '{{source}}' as upload_id,
    '{{source}}' as contributor_id,
    sensor,
    case when "at" is null or ends_with("at", 'Z') then cast("at" as timestamptz) else error('at: ' || "at") end as "at",
    case when "par" is null or try_cast("par" as integer)::varchar = "par" then try_cast("par" as integer) else error('par: ' || "par") end as "par",
    case when "temperature" is null or length("temperature") <= 16 or cast("temperature" as double)::varchar = "temperature" then cast("temperature" as double)
      when cast(cast("temperature" as double)::varchar as decimal(38, 30)) = cast("temperature" as decimal(38, 30)) then cast("temperature" as double) else error('temperature: ' || "temperature") end as "temperature",
    case when "phi2" is null or length("phi2") <= 16 or cast("phi2" as double)::varchar = "phi2" then cast("phi2" as double)
      when cast(cast("phi2" as double)::varchar as decimal(38, 30)) = cast("phi2" as decimal(38, 30)) then cast("phi2" as double) else error('phi2: ' || "phi2") end as "phi2",
    case when "leaf" is null or try_cast("leaf" as integer)::varchar = "leaf" then try_cast("leaf" as integer) else error('leaf: ' || "leaf") end as "leaf",
    plot,
    note,
    {{ok}} as ok,
    case when "day" is null or try_cast("day" as date)::varchar = "day" then try_cast("day" as date) else error('day: ' || "day") end as "day"
  from {{records}}
  order by uploaded_at, id
) to '{{out}}' (format parquet, compression zstd, row_group_size 100352)
