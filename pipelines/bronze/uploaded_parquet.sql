-- grain: one row of one uploaded Parquet file, in its own types
-- key: fieldlake_row, the row's place in its file as 12 hex digits
-- from: an uploaded Parquet file
create or replace temp view bronze_records as
select printf('%012x', file_row_number) as fieldlake_row, {{columns}}
from read_parquet(getvariable('records'), file_row_number = true, hive_partitioning = false)
