-- grain: one record of one uploaded JSON file, every key in the type that its column will have
-- key: fieldlake_row, the record's place in its file as 12 hex digits
-- from: the records of an uploaded file, one a line, each with its number, as src/ingest/uploads/read/json-lines.ts wrote them
create or replace temp view bronze_records as
select fieldlake_row{{columns}} from read_json(getvariable('records'), format = 'newline_delimited', maximum_object_size = {{longest}},
  columns = { 'fieldlake_row': 'VARCHAR'{{types}} })
