copy (select * from {{bare}}) to '{{out}}' (format parquet, compression zstd)
