-- grain: one record, typed; an error at the first value that is of another kind than the first values of its column
-- key: fieldlake_row
-- from: bronze_records
create or replace temp view silver_values as
select fieldlake_row, {{values}} from (select *, {{tries}} from bronze_records)
