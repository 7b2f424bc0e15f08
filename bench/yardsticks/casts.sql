-- The casts alone, without a look at whether each value is still the one that was sent; row ids in the file's order, sorted, one Parquet file.
copy (
  select '{{source}}' || printf('%012x', row_number() over () - 1) as id, now() as uploaded_at, '{{source}}' as experiment_id, sensor, cast("at" as timestamptz) as "at",
    cast(par as integer) as par, cast(temperature as double) as temperature, cast(phi2 as double) as phi2, cast(leaf as integer) as leaf, plot, note,
    cast(ok as boolean) as ok, cast(day as date) as day
  from {{records}}
  order by uploaded_at, id
) to '{{out}}' (format parquet, compression zstd, row_group_size 100352)
