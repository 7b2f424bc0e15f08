-- Databricks, after 2_tables.sql. Two account groups, each with one service principal in it: the API reads, and cannot change a row even when its
-- credentials are stolen; whatever fills the tables writes.
GRANT USE CATALOG ON CATALOG field TO `fieldlake-readers`;
GRANT USE SCHEMA, SELECT ON SCHEMA field.gold TO `fieldlake-readers`;

GRANT USE CATALOG ON CATALOG field TO `fieldlake-writers`;
GRANT USE SCHEMA, SELECT, MODIFY ON SCHEMA field.gold TO `fieldlake-writers`;
