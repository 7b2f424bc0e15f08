-- the first hundred rows in the table's own order, in which millions share a time: ids on narrow columns first, then the rows
select id, uploaded_at, plot, treatment, sensor, measured_at, spad, phi2, temperature, humidity, par, pulses, valid, note
from read_parquet($files)
where experiment_id = $experiment
  and id in (
    select id from read_parquet($files)
    where experiment_id = $experiment and treatment = 'drought' and spad > 45
    order by uploaded_at nulls last, id
    limit 100
  )
order by uploaded_at nulls last, id
