-- Databricks, run by somebody who may create catalogs. The catalog is called field here; docs/databricks.md says what else to set.
CREATE CATALOG IF NOT EXISTS field COMMENT 'Measurements of field experiments';
USE CATALOG field;
CREATE SCHEMA IF NOT EXISTS gold COMMENT 'Tables that fieldlake reads: one per kind, the rows of every experiment in it';
