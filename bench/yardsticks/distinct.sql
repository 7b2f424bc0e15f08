select distinct sensor from read_parquet($files) where experiment_id = $experiment and sensor <> '' order by sensor limit 1001
