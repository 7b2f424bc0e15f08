-- the newest hundred rows of one treatment above a reading: the engine prunes row groups by the best times that it has seen
select id, uploaded_at, plot, treatment, sensor, measured_at, spad, phi2, temperature, humidity, par, pulses, valid, note
from read_parquet($files)
where experiment_id = $experiment and treatment = 'drought' and spad > 45
order by measured_at desc nulls last, uploaded_at, id
limit 100
