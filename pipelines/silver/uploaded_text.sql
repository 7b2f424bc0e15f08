-- grain: one row for the whole file: the bytes of its text, or an error from the row on at which they are too many
-- key: none
-- from: bronze_records
select max(case when running > {{limit}} then error('{{problem}}') else running end)::varchar as bytes
from (select sum({{bytes}}) over (rows between unbounded preceding and current row) as running from bronze_records)
