-- Up Migration
-- What a metadata table adds to measurements, without its rows: reads ask for this, and the rows are in the lake.

create function metadata_shape(metadata jsonb) returns jsonb language sql immutable parallel safe
  return jsonb_build_object(
    'matchedBy', case when metadata ->> 'experimentQuestionId' = 'column:device_id' then 'device_id' else metadata ->> 'experimentQuestionId' end,
    'columns', coalesce(
      (select jsonb_agg(jsonb_build_object('name', c ->> 'name', 'type', c ->> 'type') order by place)
       from jsonb_array_elements(case when jsonb_typeof(metadata -> 'columns') = 'array' then metadata -> 'columns' else '[]' end) with ordinality as listed (c, place)
       where c ->> 'id' is distinct from metadata ->> 'identifierColumnId' and c ->> 'name' is not null),
      '[]'));

alter table metadata_records add column shape jsonb not null generated always as (metadata_shape(metadata)) stored;
