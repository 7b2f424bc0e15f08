-- grain: one row for the whole file: for each column the union of its values' classes
-- key: none
-- from: bronze_records
select {{classes}} from (select * from bronze_records {{limit}})
