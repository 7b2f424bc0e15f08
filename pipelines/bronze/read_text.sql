-- grain: one record of one delimited file, every field without what is about its text alone: marks for missing values, blanks, decimal commas, ways to write a day
-- key: fieldlake_row
-- from: bronze_sent
create or replace temp view bronze_records as select fieldlake_row, {{columns}} from bronze_sent
