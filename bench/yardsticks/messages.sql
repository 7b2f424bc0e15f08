-- What an expert writes to make of one file of these messages what the service makes of the same messages: each line checked, whatever it holds; cast, in range and with
-- an offset in its time; local times by zone; ids of what was sent, none of them twice, in the file or with what is there; rows by time in one Parquet file, devices beside
-- them, and of every line that may not be stored the reason. Everything is made durable by the caller. Statements are apart by `;` at the end of a line.
create or replace temp table sent as
with lines as (
  select body from read_csv('{{file}}', auto_detect = false, header = false, delim = '\x01', quote = '', escape = '', columns = {body: 'VARCHAR'}, max_line_size = 1048576)
), parsed as (
  select body, case when json_valid(body) then json_transform(body, '{"id":"VARCHAR","timestamp":"VARCHAR","timezone":"VARCHAR","device_id":"VARCHAR","device_name":"VARCHAR",
    "device_version":"VARCHAR","device_firmware":"VARCHAR","device_battery":"DOUBLE","protocol_id":"VARCHAR","workbook_version_id":"VARCHAR","workbook_run_id":"VARCHAR",
    "macro_context":"JSON","macros":[{"id":"VARCHAR","name":"VARCHAR","filename":"VARCHAR"}],"questions":[{"question_label":"VARCHAR","question_answer":"VARCHAR"}],
    "user_id":"VARCHAR","latitude":"DOUBLE","longitude":"DOUBLE","sample":"JSON"}') end as m
  from lines
), timed as (
  select body, m, case when regexp_full_match(m."timestamp", '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,12})?)?\s*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)')
    then try_cast(m."timestamp" as timestamptz) end as measured
  from parsed
)
select left(sha256('{{source}}' || coalesce(m.id, body)), 20) || '000000000000' as id, m, measured,
  case when m is null then 'json-invalid' when m."timestamp" is null then 'timestamp-missing' when measured is null then 'timestamp-invalid' end as reason
from timed;

create or replace temp table fresh as
select * from sent where reason is null and id not in (select id from read_parquet('{{there}}'))
qualify row_number() over (partition by id) = 1;

copy (
  select id, m.device_id as device_id, m.device_name as device_name, measured as "timestamp", measured as measurement_time_utc, zones.name as timezone,
    cast(measured at time zone 'UTC' as date) as date, m.macros as macros, m.protocol_id as protocol_id, m.workbook_run_id as workbook_run_id,
    case when m.latitude between -90 and 90 then m.latitude end as latitude, case when m.longitude between -180 and 180 then m.longitude end as longitude, m.sample as data,
    now() as processed_timestamp, strftime(measured at time zone zones.name, '%Y-%m-%d %H:%M:%S') as measurement_time_local,
    strftime(measured at time zone zones.name, '%H:%M') as local_time,
    '{{source}}' as experiment_id, m.user_id as contributor_id, '{{client}}' as client_id, m.workbook_version_id as workbook_version_id, m.macro_context as macro_context
  from fresh left join (select distinct name from pg_timezone_names()) zones on zones.name = m.timezone
  order by "timestamp", id
) to '{{out}}' (format parquet, compression zstd, row_group_size 100352);

copy (
  select m.device_id as device_id, m.device_firmware as device_firmware, '{{client}}' as client_id, arg_max(m.device_name, measured) as device_name,
    arg_max(m.device_version, measured) as device_version, arg_max(m.device_battery, measured) as device_battery, count(*) as total_measurements,
    now() as processed_timestamp, max(measured) as last_measured_at, '{{source}}' as experiment_id
  from fresh group by all
) to '{{devices}}' (format parquet, compression zstd);

copy (select id, reason from sent where reason is not null) to '{{outcomes}}' (format parquet, compression zstd);
