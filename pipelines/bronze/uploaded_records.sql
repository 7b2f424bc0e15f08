-- grain: one record of one uploaded file, every field as the text that was sent (null where the field was empty and unquoted)
-- key: fieldlake_row, the record's place in its file as 12 hex digits
-- from: the normalised copy of an uploaded file that src/ingest wrote
create or replace temp view {{view}} as
select *{{absent}} from read_csv(getvariable('records'), auto_detect = false, delim = '{{delimiter}}', quote = '{{quote}}', escape = '{{quote}}', nullstr = '',
  allow_quoted_nulls = false, header = false, strict_mode = true, new_line = '\n', max_line_size = {{longest}}, buffer_size = {{buffer}},
  parallel = {{parallel}}, null_padding = {{padding}}, columns = { {{columns}} })
