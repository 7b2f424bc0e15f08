/** What an operator asks of Databricks from the command line: names for the tables, and whether everything works that reads depend on. */
import { randomUUID } from 'node:crypto';
import { errors, StartError } from '../errors.ts';
import { makeDecimal, type ColumnType } from '../lakehouse/terms/catalog.ts';
import { printEntry } from '../lakehouse/tables/delta/entry.ts';
import { printEntryKey, printTableFolder } from '../lakehouse/tables/delta/places.ts';
import { makeNextState, type LogState } from '../lakehouse/tables/delta/schema.ts';
import { raw } from '../lakehouse/terms/dialect.ts';
import { quoteWithBackticks } from '../lakehouse/terms/quoting.ts';
import type { Warehouse } from '../lakehouse/terms/warehouse.ts';
import { makeSlug } from '../storage/file-name.ts';
import type { LakeTools } from './lake.service.ts';
import { listNamedTables } from './lake.queries.ts';

const quoteText = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** The ending of a table's name in the catalog. By it, a table that is renamed here keeps its name there. These digits of a version 7 id are random. */
const endingOf = (tableId: string) => tableId.replaceAll('-', '').slice(-12);

/** Makes a Unity Catalog external table of each table of the lake that has none yet; nothing is written into the lake. */
export async function registerTables(
  { db }: Pick<LakeTools, 'db'>,
  warehouse: Warehouse,
  { catalog, schema, lakeUrl }: { catalog: string | undefined; schema: string; lakeUrl: string },
): Promise<{ tables: number; named: string[] }> {
  if (catalog === undefined) throw new StartError('DATABRICKS_CATALOG says in which catalog tables are named.');
  const place = `${quoteWithBackticks(catalog)}.${quoteWithBackticks(schema)}`;
  const run = (sql: string) => warehouse.rows({ sql, values: [] });
  await run(`create schema if not exists ${place}`);
  const there = (await run(`show tables in ${place}`)).map((row) => String(row['tableName']));
  const tables = await listNamedTables(db);
  const named: string[] = [];
  for (const { id, experimentId, experimentName, name } of tables) {
    const ending = endingOf(id);
    if (there.some((known) => known.endsWith(ending))) continue;
    const called = [makeSlug(experimentName), makeSlug(name), ending].filter(Boolean).join('_').replaceAll('-', '_');
    const location = `${lakeUrl}/${printTableFolder(experimentId, id)}`;
    await run(`create table if not exists ${place}.${quoteWithBackticks(called)} using delta location ${quoteText(location)}`);
    named.push(called);
  }
  return { tables: tables.length, named };
}

export interface Finding {
  what: string;
  holds: boolean;
  /** What was found instead. */
  found?: string;
}

/** A column of each type, with a name that a log has to map, and how its two rows are printed. */
const PROBED: readonly { name: string; type: ColumnType; sql: string; printed: [string | null, string | null] }[] = [
  { name: 'id', type: { kind: 'string' }, sql: `'r' || i`, printed: ['"r0"', '"r1"'] },
  { name: 'experiment_id', type: { kind: 'string' }, sql: `'e'`, printed: ['"e"', '"e"'] },
  { name: 'leaf no; (left)', type: { kind: 'int' }, sql: 'i::integer', printed: ['0', '1'] },
  { name: 'big', type: { kind: 'bigint' }, sql: '9007199254740993 + i', printed: ['"9007199254740993"', '"9007199254740994"'] },
  {
    name: 'exact',
    type: makeDecimal(38, 10),
    sql: `'1234567890123456789012345678.0000000001'::decimal(38, 10)`,
    printed: ['"1234567890123456789012345678.0000000001"', '"1234567890123456789012345678.0000000001"'],
  },
  { name: 'measured', type: { kind: 'double' }, sql: `case when i = 0 then 0.1 else 'nan'::double end`, printed: ['0.1', null] },
  { name: 'said', type: { kind: 'boolean' }, sql: 'i = 1', printed: ['false', 'true'] },
  { name: 'day', type: { kind: 'date' }, sql: `date '2024-02-29'`, printed: ['"2024-02-29"', '"2024-02-29"'] },
  {
    name: 'at',
    type: { kind: 'timestamp' },
    sql: `timestamptz '2024-03-31 01:00:00.123456+00'`,
    printed: ['"2024-03-31T01:00:00.123456Z"', '"2024-03-31T01:00:00.123456Z"'],
  },
  {
    name: 'clock',
    type: { kind: 'timestamp_ntz' },
    sql: `timestamp '2024-03-31 02:30:00'`,
    printed: ['"2024-03-31T02:30:00.000"', '"2024-03-31T02:30:00.000"'],
  },
  {
    name: 'document',
    type: { kind: 'variant' },
    sql: `case when i = 0 then '{"a":[1,null]}' else 'no json' end`,
    printed: ['{"a":[1,null]}', '"no json"'],
  },
];

/** Writes a table of two versions into the lake, with one row each, as the service would. Returns its folder. */
async function layProbe({ staging, lake }: Pick<LakeTools, 'staging' | 'lake'>): Promise<string> {
  const [experimentId, tableId] = [randomUUID(), randomUUID()];
  const folder = printTableFolder(experimentId, tableId);
  const table = { id: tableId, name: 'probe', createdAt: Date.now() };
  const columns = PROBED.map(({ name, type }) => ({ name, type }));
  let before: LogState | null = null;
  for (const version of [0, 1]) {
    const picked = PROBED.map(({ name, sql }) => `${sql} as "${name}"`).join(', ');
    const select = { sql: `select ${picked} from (select ${version} as i)`, values: [] };
    const staged = await staging.stage({ tableId, experimentId, select, sortColumn: 'at' });
    const after: LogState = makeNextState(before ?? { columns: [], features: [], greatestId: 0 }, [columns], {
      files: true,
      retyped: new Set(),
    });
    const at = Date.now();
    const added = staged.files.map((file) => ({ ...file, modifiedAt: at }));
    const entry = printEntry({ table, before, after, cause: 'check', at, added, retired: [], changesRows: true });
    if (!(await lake.create(printEntryKey(folder, version), Buffer.from(entry)))) throw errors.internal();
    before = after;
  }
  return folder;
}

/** Tries on the real workspace everything that reads depend on. Leaves nothing behind. */
export async function checkDatabricks(tools: Pick<LakeTools, 'staging' | 'lake'>, warehouse: Warehouse): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { dialect } = warehouse;
  const check = async (what: string, work: () => Promise<unknown>, expected: unknown) => {
    const found = await work().then(
      (value) => JSON.stringify(value),
      // our own error, and what the driver said beneath it
      (error: unknown) =>
        `${String(error)} ${error instanceof Error && 'details' in error ? String((error.details as { cause?: unknown }).cause) : ''}`,
    );
    const holds = found === JSON.stringify(expected);
    findings.push(holds ? { what, holds } : { what, holds, found: found.slice(0, 500) });
    return holds;
  };
  const one = async (sql: string) => Object.values((await warehouse.rows({ sql, values: [] }))[0] ?? {})[0];
  if (!(await check('a statement is answered', () => one(`select 'yes' as a`), 'yes'))) return findings;
  await check('sessions are in UTC', () => one('select current_timezone() as z'), 'UTC');
  await check(
    'JSON is told from other text',
    () => one(`select try_parse_json('{"a":') is null and try_parse_json('{"a":1}') is not null as a`),
    true,
  );
  const folder = await layProbe(tools);
  try {
    const at = (version: number) => dialect.rows([], { files: [folder], live: { tableId: folder, folder, version } }).text;
    const countAt = (version: number) => async () => Number(await one(`select count(*) as n from ${at(version)}`));
    await check('a table of the lake is found under its URL, at its first version', countAt(0), 1);
    await check('and at a later one', countAt(1), 2);
    for (const { name, type, printed } of PROBED) {
      const text = dialect.json(raw(dialect.quote(name)), type);
      const ask = async () => {
        const sql = `select ${text.text} as v from ${at(1)} order by ${dialect.quote('id')}`;
        return (await warehouse.rows({ sql, values: text.values })).map(({ v }) => v);
      };
      await check(`a column of type ${type.kind} is read as it was written`, ask, printed);
    }
  } finally {
    await tools.lake.erase(`${folder.slice(0, folder.lastIndexOf('/'))}/`);
  }
  return findings;
}
