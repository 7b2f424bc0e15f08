-- grain: one row for the whole file: for each column how many values are of each kind
-- key: none
-- from: bronze_sent
select {{counts}} from (select {{kinds}} from (select *, {{classes}} from (select {{bare}} from (select * from bronze_sent {{limit}}))))
