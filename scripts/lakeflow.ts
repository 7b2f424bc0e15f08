/** Prints `pipelines/databricks/`: the gold steps of `pipelines/` as a Lakeflow declarative pipeline. `npm run lakeflow`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One step of `pipelines/`: what its header says, and its one SELECT. */
export interface Step {
  grain: string;
  key: string;
  from: string;
  select: string;
}

export const readStep = (text: string): Step => {
  const said = (name: string) => new RegExp(`^-- ${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  const select = text
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .trim();
  return { grain: said('grain'), key: said('key'), from: said('from'), select };
};

const OPERAND = String.raw`[a-z_]+(?:\.[a-z_]+)?`;
const clock = (of: string) => `timestampadd(MICROSECOND, unix_micros(try_cast(${of} as timestamp)), timestamp_ntz'1970-01-01 00:00:00')`;
const PATTERNS: Readonly<Record<string, string>> = { '%Y-%m-%d %H:%M:%S': 'yyyy-MM-dd HH:mm:ss' };

/** A zone's name, if it is one of a list and not an offset, and Spark can use it; null else, as for names that DuckDB does not list. */
const ZONE = `case when timezone rlike '^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$' and not timezone rlike '^(Z|(UTC?|GMT)[+-].*|UT)$' and try_cast(concat('2000-01-01 00:00:00 ', timezone) as timestamp) is not null then timezone end`;

/** Where the two engines spell one thing differently, most particular first. The order matters: later rules see what earlier ones left. */
const RULES: readonly (readonly [RegExp, string | ((...found: string[]) => string)])[] = [
  [
    new RegExp(`strftime\\((${OPERAND})::timestamptz at time zone zones\\.name, '([^']+)'\\)`, 'g'),
    (_all, of = '', pattern = '') => `date_format(convert_timezone('UTC', ${ZONE}, ${clock(of)}), '${PATTERNS[pattern] ?? pattern}')`,
  ],
  [new RegExp(`cast\\((${OPERAND})::timestamptz at time zone 'UTC' as date\\)`, 'g'), (_all, of = '') => `cast(${clock(of)} as date)`],
  // a stream cannot be joined with a list of zones that each engine keeps in its own place
  [/ ?left join time_zones as zones on zones\.name = [a-z_]+\.timezone/g, ''],
  [/\bzones\.name\b/g, () => ZONE],
  [
    /from_json\(([a-z_]+), '\[\{(.*?)\}\]'\)/g,
    (_all, of = '', fields = '') =>
      `from_json(${of}, 'array<struct<${fields.replaceAll(/"([a-z]+)":"VARCHAR"/g, '$1: string').replaceAll(',', ', ')}>>')`,
  ],
  // there every measurement comes by itself
  [/\{\{measurements\}\}/g, '1'],
  [new RegExp(`\\b(${OPERAND})::json\\b`, 'g'), 'try_parse_json($1)'],
  [new RegExp(`\\b(${OPERAND})::timestamptz\\b`, 'g'), 'try_cast($1 as timestamp)'],
  [new RegExp(`\\b(${OPERAND}|\\d+|sum\\([a-z_]+\\))::(double|bigint)\\b`, 'g'), 'try_cast($1 as $2)'],
  // there a null may be the newest
  [/\barg_max\(([a-z_]+), struct_pack\(at := ([a-z_]+), said := \1\)\)/g, 'max_by($1, struct($2, $1)) filter (where $1 is not null)'],
  // what one file or batch has one of is a column of every record there
  [/getvariable\('(experiment_id|macro_id)'\) as \1/g, '$1'],
  [/"timestamp"/g, '`timestamp`'],
  [/\{\{questions\}\}/g, ', try_parse_json(answers) as questions_data, cast(null as variant) as custom_metadata'],
  [/\{\{values\}\}/g, ', try_parse_json(outputs) as macro_output'],
  // the table so far is in the stream already: a materialised view counts it again
  [/\s+union all by name\s+\{\{known\}\}/g, ''],
  [/\bfrom said group by id$/g, 'from said group by id, experiment_id'],
  [/(select device_row as id, )/g, '$1experiment_id, '],
];

const FOREIGN = /::|\{\{|getvariable|strftime|arg_max|time_zones|by name/;

/** A step's SELECT in Databricks SQL, over `source`. Throws when something is left that only DuckDB reads. */
export const onDatabricks = (select: string, source: string): string => {
  const text = RULES.reduce((before, [found, to]) => before.replaceAll(found, to as string), select).replaceAll(
    /\bfrom bronze_records\b/g,
    `from ${source}`,
  );
  const left = FOREIGN.exec(text);
  if (left) throw new Error(`Only DuckDB reads '${left[0]}' in: ${text}`);
  return text;
};

interface Table {
  file: string;
  name: string;
  source: string;
  /** Of two records of a key the later one counts, by this column of the records beside the time of processing: 0 where a record has none. */
  version?: string;
  /** Rows that fail are counted and kept out; those without a key end the update. */
  expects: Readonly<Record<string, string>>;
  cluster: string;
  kind: 'stream' | 'view';
}

export const TABLES: readonly Table[] = [
  {
    file: 'gold/measurement_rows.sql',
    name: 'raw_data',
    source: 'bronze_measurements',
    version: 'stored_version',
    expects: { 'has an experiment': 'experiment_id is not null', 'has a time': '`timestamp` is not null' },
    cluster: 'experiment_id, date',
    kind: 'stream',
  },
  {
    file: 'gold/macro_rows.sql',
    name: 'macro',
    source: 'bronze_macro_outputs',
    expects: { 'has an experiment': 'experiment_id is not null', 'names its macro': 'macro_id is not null' },
    cluster: 'experiment_id, macro_id',
    kind: 'stream',
  },
  {
    file: 'gold/device_rows.sql',
    name: 'device',
    // what is delivered twice counts once
    source: `(select * from (
      select *, row_number() over (partition by fieldlake_row order by coalesce(try_cast(stored_version as bigint), 0) desc) as nth from bronze_measurements
    ) where nth = 1)`,
    expects: {},
    cluster: 'experiment_id',
    kind: 'view',
  },
];

/** The rows of a table as its pipeline has them, out of records, with what they are in order by. */
export const rowsOf = ({ version, source, kind }: Table, { select }: Step): string => {
  const rows = onDatabricks(select, kind === 'stream' ? `STREAM(${source})` : source);
  return version === undefined ? rows : rows.replace(/\nfrom /, `, coalesce(try_cast(${version} as bigint), 0) as ${version}\nfrom `);
};

/** A step in Databricks SQL already, where the engines have nothing in common: its SELECT is declared as it stands. In the order in which they read each other. */
interface View {
  file: string;
  name: string;
  cluster: string;
  /** Only other steps read it. */
  isInner?: boolean;
}

export const UPLOAD_VIEWS: readonly View[] = [
  { file: 'silver/uploaded_files.databricks.sql', name: 'silver_uploaded_files', cluster: 'table_id', isInner: true },
  { file: 'silver/uploaded_cells.databricks.sql', name: 'silver_uploaded_cells', cluster: 'source', isInner: true },
  { file: 'silver/uploaded_columns.databricks.sql', name: 'silver_uploaded_columns', cluster: 'table_id', isInner: true },
  { file: 'silver/uploaded_values.databricks.sql', name: 'silver_uploaded_values', cluster: 'source', isInner: true },
  { file: 'gold/uploaded_rows.databricks.sql', name: 'upload', cluster: 'experiment_id, upload_table_id, uploaded_at' },
  { file: 'gold/quarantined_records.databricks.sql', name: 'quarantine', cluster: 'experiment_id' },
  { file: 'gold/ingest_reports.databricks.sql', name: 'ingest_reports', cluster: 'experiment_id' },
  { file: 'gold/table_columns.databricks.sql', name: 'table_columns', cluster: 'experiment_id' },
  { file: 'gold/table_counts.databricks.sql', name: 'table_counts', cluster: 'experiment_id' },
];

const OF_MEASUREMENT =
  'fieldlake_row experiment_id measured_at device_id device_name timezone latitude longitude workbook_run_id contributor_id client_id processed_at';

/** What the service writes of messages (src/ingest/landing-measurements.ts, landing-outputs.ts): every field is text. */
export const MESSAGE_ARRIVALS = {
  measurements: `${OF_MEASUREMENT} macros protocol_id data workbook_version_id macro_context answers device_row device_firmware device_version device_battery stored_version`,
  macro_outputs: `${OF_MEASUREMENT} raw_id macro_id macro_name macro_filename macro_version macro_error outputs`,
} as const;

/** What the service writes of uploads (src/ingest/landing-uploads.ts): every field is text. */
export const UPLOAD_ARRIVALS = {
  upload_files:
    'file_id source experiment_id table_id table_name upload_id source_kind contributor_id path ordinal uploaded_at reason message columns',
  upload_records: 'file_id fieldlake_row cells',
  upload_refusals: 'file_id fieldlake_row line byte_offset reason original_text',
} as const;

/** The declaration of such columns. */
export const asText = (columns: string): string =>
  columns
    .split(' ')
    .map((name) => `${name} STRING`)
    .join(', ');

const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;

/** A table of what arrives in a folder, as a command wrote it; records without a key are dropped. */
const bronze = (folder: string, columns: string, { key, command, cluster }: { key: string; command: string; cluster: string }) =>
  `-- bronze_${folder}: as \`npm run lake -- ${command}\` wrote it
CREATE OR REFRESH STREAMING TABLE bronze_${folder} (
  CONSTRAINT \`has a key\` EXPECT (${key} IS NOT NULL) ON VIOLATION DROP ROW
)${cluster}
AS SELECT *, _metadata.file_path AS source_file
FROM STREAM read_files('\${landing}/${folder}', format => 'json', inferColumnTypes => false, rescuedDataColumn => 'rescued',
  schemaHints => '${asText(columns)}');`;

const OF_MESSAGES = { key: 'fieldlake_row', command: 'land-messages', cluster: ' CLUSTER BY (experiment_id)' };
const OF_UPLOADS = { key: 'file_id', command: 'land-uploads', cluster: '' };

const viewDeclared = ({ name, cluster, isInner = false }: View, step: Step) => {
  const keys = step.key.split(', ').map((key) => `  CONSTRAINT \`has ${key}\` EXPECT (${key} IS NOT NULL) ON VIOLATION FAIL UPDATE`);
  return `CREATE OR REFRESH ${isInner ? 'PRIVATE ' : ''}MATERIALIZED VIEW ${name} (
${keys.join(',\n')}
) COMMENT ${quoted(step.grain)} CLUSTER BY (${cluster})
AS ${step.select};`;
};

const constraints = ({ expects }: Table, key: string) =>
  [
    ...Object.entries(expects).map(([name, what]) => `  CONSTRAINT \`${name}\` EXPECT (${what}) ON VIOLATION DROP ROW`),
    `  CONSTRAINT \`has a key\` EXPECT (${key} IS NOT NULL) ON VIOLATION FAIL UPDATE`,
  ].join(',\n');

const sequence = ({ version }: Table) =>
  version === undefined
    ? 'SEQUENCE BY processed_timestamp'
    : `SEQUENCE BY STRUCT(processed_timestamp, ${version}) COLUMNS * EXCEPT (${version})`;

const declared = (table: Table, step: Step): string => {
  const comment = `COMMENT ${quoted(step.grain)}`;
  if (table.kind === 'view')
    return `CREATE OR REFRESH MATERIALIZED VIEW ${table.name} (
${constraints(table, step.key)}
) ${comment} CLUSTER BY (${table.cluster})
AS ${rowsOf(table, step)};`;
  return `CREATE TEMPORARY VIEW ${table.name}_rows
AS ${rowsOf(table, step)};

CREATE OR REFRESH STREAMING TABLE ${table.name} (
${constraints(table, step.key)}
) ${comment} CLUSTER BY (${table.cluster});

-- a second delivery of a record changes nothing
CREATE FLOW ${table.name}_by_key AS AUTO CDC INTO ${table.name}
FROM STREAM(${table.name}_rows) KEYS (${step.key}) ${sequence(table)} STORED AS SCD TYPE 1;`;
};

const BUNDLE = `# Generated by scripts/lakeflow.ts. Deploy: databricks bundle deploy --var landing=s3://BUCKET/landing
bundle:
  name: fieldlake

variables:
  catalog:
    description: Catalog of the gold tables, as sql/databricks makes it
    default: field
  landing:
    description: Folder of the bucket where records arrive, one folder a kind

resources:
  pipelines:
    fieldlake:
      name: fieldlake
      catalog: \${var.catalog}
      schema: gold
      serverless: true
      continuous: false
      channel: CURRENT
      configuration:
        landing: \${var.landing}
      libraries:
        - file:
            path: lakeflow.sql

targets:
  production:
    mode: production
    default: true
`;

/** The files of \`pipelines/databricks\`, by name. */
export const lakeflow = (pipelines: string): Readonly<Record<string, string>> => {
  const tables = TABLES.map((table) => declared(table, readStep(readFileSync(join(pipelines, table.file), 'utf8'))));
  const views = UPLOAD_VIEWS.map((view) => viewDeclared(view, readStep(readFileSync(join(pipelines, view.file), 'utf8'))));
  const head = '-- Generated by scripts/lakeflow.ts from the headers and SELECTs of pipelines; edit those.';
  const messages = Object.entries(MESSAGE_ARRIVALS).map(([folder, columns]) => bronze(folder, columns, OF_MESSAGES));
  const uploads = Object.entries(UPLOAD_ARRIVALS).map(([folder, columns]) => bronze(folder, columns, OF_UPLOADS));
  return { 'lakeflow.sql': `${[head, ...messages, ...uploads, ...tables, ...views].join('\n\n')}\n`, 'databricks.yml': BUNDLE };
};

if (import.meta.main) {
  const pipelines = join(import.meta.dirname, '..', 'pipelines');
  mkdirSync(join(pipelines, 'databricks'), { recursive: true });
  for (const [name, text] of Object.entries(lakeflow(pipelines))) writeFileSync(join(pipelines, 'databricks', name), text);
}
