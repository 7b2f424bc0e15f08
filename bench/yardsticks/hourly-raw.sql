-- hourly mean and number of rows: whole hours are counted as integers and made times of once a group
select make_timestamptz(hour * 3600000000) as "timestamp", mean, rows
from (
  select epoch_us("timestamp") // 3600000000 as hour, avg(latitude) as mean, count(*) as rows
  from read_parquet($files)
  where experiment_id = $experiment
  group by hour
)
order by hour
limit 100000
