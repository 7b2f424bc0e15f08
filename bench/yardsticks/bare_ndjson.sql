copy (select * from read_json('{{file}}')) to '{{out}}' (format parquet, compression zstd)
