-- the whole table in order, every text guarded against spreadsheet formulas, written where nothing has to read it
copy (
  select
    case when ascii(id) in (61, 43, 45, 64, 9, 13) then '''' || id else id end,
    strftime(uploaded_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ'),
    plot,
    case when ascii(treatment) in (61, 43, 45, 64, 9, 13) then '''' || treatment else treatment end,
    case when ascii(sensor) in (61, 43, 45, 64, 9, 13) then '''' || sensor else sensor end,
    strftime(measured_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ'),
    case when isfinite(spad) then spad end,
    case when isfinite(phi2) then phi2 end,
    case when isfinite(temperature) then temperature end,
    case when isfinite(humidity) then humidity end,
    par, pulses, valid,
    case when ascii(note) in (61, 43, 45, 64, 9, 13) then '''' || note else note end
  from read_parquet($files)
  where experiment_id = $experiment
  order by uploaded_at nulls last, id
) to '/dev/null' (format csv, header false, nullstr '', use_tmp_file false)
