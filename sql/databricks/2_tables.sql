-- Databricks, after 1_schema.sql, by the owner of the schema. VARIANT needs Databricks Runtime 15.3 or a SQL warehouse of the current channel.
-- VARIANT columns hold what only some experiments have, as objects: a field is named like its column when that is a plain word, and otherwise
-- by a tilde and the hexadecimal UTF-8 bytes of its name.
USE CATALOG field;

CREATE TABLE IF NOT EXISTS gold.raw_data (
  id STRING NOT NULL,
  device_id STRING,
  device_name STRING,
  timestamp TIMESTAMP,
  measurement_time_utc TIMESTAMP,
  timezone STRING,
  date DATE,
  macros ARRAY<STRUCT<id: STRING, name: STRING, filename: STRING>>,
  protocol_id STRING,
  workbook_run_id STRING,
  latitude DOUBLE,
  longitude DOUBLE,
  data VARIANT,
  processed_timestamp TIMESTAMP,
  measurement_time_local STRING,
  local_time STRING,
  experiment_id STRING NOT NULL,
  contributor_id STRING,
  client_id STRING,
  workbook_version_id STRING,
  macro_context STRING,
  questions_data VARIANT,
  custom_metadata VARIANT
) USING DELTA
CLUSTER BY (experiment_id, date)
COMMENT 'Measurements, one row each';

CREATE TABLE IF NOT EXISTS gold.device (
  id STRING NOT NULL,
  device_id STRING,
  client_id STRING,
  device_firmware STRING,
  device_name STRING,
  device_version STRING,
  device_battery DOUBLE,
  total_measurements BIGINT,
  processed_timestamp TIMESTAMP,
  experiment_id STRING NOT NULL,
  last_measured_at TIMESTAMP
) USING DELTA
CLUSTER BY (experiment_id)
COMMENT 'Devices that measured in an experiment, as they last reported';

CREATE TABLE IF NOT EXISTS gold.macro (
  id STRING NOT NULL,
  device_id STRING,
  device_name STRING,
  timestamp TIMESTAMP,
  measurement_time_utc TIMESTAMP,
  timezone STRING,
  latitude DOUBLE,
  longitude DOUBLE,
  workbook_run_id STRING,
  macro_error STRING,
  processed_timestamp TIMESTAMP,
  measurement_time_local STRING,
  local_time STRING,
  experiment_id STRING NOT NULL,
  raw_id STRING,
  macro_id STRING,
  macro_name STRING,
  macro_filename STRING,
  macro_version STRING,
  date DATE,
  contributor_id STRING,
  client_id STRING,
  macro_output VARIANT
) USING DELTA
CLUSTER BY (experiment_id, macro_id, date)
COMMENT 'What macros made of measurements: one row for each that a macro returned';

CREATE TABLE IF NOT EXISTS gold.upload (
  id STRING NOT NULL,
  uploaded_at TIMESTAMP,
  experiment_id STRING NOT NULL,
  upload_id STRING,
  contributor_id STRING,
  upload_table_id STRING NOT NULL,
  uploaded_data VARIANT
) USING DELTA
CLUSTER BY (experiment_id, upload_table_id, uploaded_at)
COMMENT 'Rows of uploaded files';

CREATE TABLE IF NOT EXISTS gold.identity (
  experiment_id STRING NOT NULL,
  user_id STRING,
  name STRING,
  avatar STRING,
  pseudonym STRING
) USING DELTA
CLUSTER BY (experiment_id)
COMMENT 'Who people are, and what an anonymised experiment calls them';

CREATE TABLE IF NOT EXISTS gold.registry (
  experiment_id STRING NOT NULL,
  client_id STRING,
  id STRING NOT NULL,
  serial_number STRING,
  owner_id STRING,
  status STRING,
  device_type STRING
) USING DELTA
CLUSTER BY (experiment_id)
COMMENT 'Devices as their owners registered them';

CREATE TABLE IF NOT EXISTS gold.annotation (
  experiment_id STRING NOT NULL,
  table_id STRING,
  row_id STRING,
  id STRING NOT NULL,
  sequence BIGINT,
  deleted BOOLEAN,
  type STRING,
  content_text STRING,
  flag_type STRING,
  created_by STRING,
  created_at TIMESTAMP,
  updated_at TIMESTAMP
) USING DELTA
CLUSTER BY (experiment_id, table_id)
COMMENT 'Changes of annotations, oldest first; the last one of an annotation counts';

CREATE TABLE IF NOT EXISTS gold.metadata_record (
  experiment_id STRING NOT NULL,
  matched_column STRING,
  key STRING,
  custom_metadata VARIANT
) USING DELTA
CLUSTER BY (experiment_id)
COMMENT 'Records of the metadata that researchers keep beside their measurements';

CREATE TABLE IF NOT EXISTS gold.quarantine (
  id STRING NOT NULL,
  quarantined_at TIMESTAMP,
  experiment_id STRING NOT NULL,
  upload_id STRING,
  contributor_id STRING,
  table_id STRING,
  path STRING,
  fieldlake_row STRING,
  line BIGINT,
  byte_offset BIGINT,
  reason STRING,
  original_text STRING
) USING DELTA
CLUSTER BY (experiment_id)
COMMENT 'What could not be stored, and why';
