copy (select * from read_csv('{{file}}')) to '{{out}}' (format parquet, compression zstd)
