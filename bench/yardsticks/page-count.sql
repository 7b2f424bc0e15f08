select count(*) from read_parquet($files) where experiment_id = $experiment and treatment = 'drought' and spad > 45
