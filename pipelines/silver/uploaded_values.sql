-- grain: one record, typed; a value that does not fit its column is null there and kept as text in `<column>__text`
-- key: fieldlake_row
-- from: bronze_records
create or replace temp view silver_values as
select fieldlake_row, {{values}} from bronze_records
