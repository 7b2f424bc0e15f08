/** The lake of one machine, written as Delta tables. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../../errors.ts';
import { fixedColumns, physicalColumns, type ColumnType, type TableKind } from '../../lakehouse/catalog.ts';
import { deltaLog } from '../../lakehouse/delta.ts';
import { columnsAt, filesAt } from '../../lakehouse/manifest.ts';
import { literal, physicalType, quote, type StagingSession } from '../../lakehouse/staging.ts';
import { listTables } from './lake.queries.ts';
import type { LakeTools } from './lake.service.ts';

interface ExportedTable {
  experimentId: string;
  kind: string;
  identifier: string;
  name: string | null;
  /** Relative to the export's folder. */
  folder: string;
  rows: number;
  files: number;
  /** Files that were written anew, as an older type of a column is in them. */
  rewritten: number;
}

type TableRow = Awaited<ReturnType<typeof listTables>>[number];

const FLAT: Readonly<Record<string, ColumnType['kind']>> = {
  BIGINT: 'bigint',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DOUBLE: 'double',
  INTEGER: 'int',
  JSON: 'variant',
  TIMESTAMP: 'timestamp_ntz',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
};

const filesVariable = (paths: readonly string[]) => ({
  sql: 'set variable files = $1',
  values: [{ type: { kind: 'string' as const }, value: paths }],
});

async function describe(session: StagingSession, select: string): Promise<Map<string, string>> {
  const rows = await session.rows({ sql: `describe ${select}`, values: [] });
  return new Map(rows.map((row) => [String(row['column_name']), String(row['column_type'])]));
}

/** The columns that the files of a table hold: as the catalogue has them, or for kinds that it does not describe as the files do. */
async function columnsOf({ db }: LakeTools, session: StagingSession, table: TableRow, paths: readonly string[]) {
  const fixed = physicalColumns(fixedColumns(table.kind as TableKind));
  const types = new Map([...fixed, ...(await columnsAt(db, table.id, table.version))].map(({ name, type }) => [name, type]));
  const held = new Map<string, string>();
  for (const path of paths) {
    await session.prepare([filesVariable([path])]);
    for (const [name, type] of await describe(session, `select * from read_parquet(getvariable('files'), hive_partitioning = false)`))
      if (!held.has(name)) held.set(name, type);
  }
  for (const [name, type] of held) if (!types.has(name)) types.set(name, { kind: FLAT[type] ?? 'string' } as ColumnType);
  return [...types].filter(([name]) => held.has(name) || table.kind !== 'quarantine').map(([name, type]) => ({ name, type }));
}

/** Puts one file into the export: as it is, or written anew where a column has an older type in it. Answers whether it was written anew. */
async function putFile(
  { staging }: LakeTools,
  session: StagingSession,
  { from, to, columns }: { from: string; to: string; columns: readonly { name: string; type: ColumnType }[] },
): Promise<boolean> {
  await session.prepare([filesVariable([from])]);
  const held = await describe(session, `select * from read_parquet(getvariable('files'), hive_partitioning = false)`);
  const shared = columns.filter(({ name }) => held.has(name));
  const wanted = await describe(
    session,
    `select ${shared.map(({ name, type }) => `null::${physicalType(type)} as ${quote(name)}`).join(', ')}`,
  );
  if ([...held].every(([name, type]) => wanted.get(name) === type)) {
    await copyFile(from, to);
    return false;
  }
  const casts = shared.map(({ name, type }) => `cast(${quote(name)} as ${physicalType(type)}) as ${quote(name)}`).join(', ');
  const work = join(staging.workFolder, `${randomUUID()}.parquet`);
  try {
    await session.prepare([
      {
        sql: `copy (select ${casts} from read_parquet(getvariable('files'), hive_partitioning = false)) to ${literal(work)} (format parquet, compression zstd)`,
        values: [],
      },
    ]);
    await copyFile(work, to);
  } finally {
    await rm(work, { force: true });
  }
  return true;
}

async function exportTable(tools: LakeTools, session: StagingSession, table: TableRow, folder: string): Promise<ExportedTable> {
  const { db, lakeFolder } = tools;
  const relative = join(table.experimentId, table.identifier);
  const target = join(folder, relative);
  await mkdir(join(target, '_delta_log'), { recursive: true });
  const files = await filesAt(db, table.id, table.version);
  const columns = await columnsOf(
    tools,
    session,
    table,
    files.map(({ path }) => join(lakeFolder, path)),
  );
  const added = [];
  let rewritten = 0;
  for (const { id, path, rowCount } of files) {
    const name = `${id}.parquet`;
    if (await putFile(tools, session, { from: join(lakeFolder, path), to: join(target, name), columns })) rewritten += 1;
    const { size, mtimeMs } = await stat(join(target, name));
    added.push({ path: name, byteCount: size, rowCount, modifiedAt: Math.round(mtimeMs) });
  }
  const description = `${table.kind} ${table.identifier} of experiment ${table.experimentId}, version ${table.version}`;
  const log = deltaLog({ id: table.id, name: table.name ?? table.identifier, description, columns, files: added, createdAt: Date.now() });
  // the log last: a folder without it is no table
  await writeFile(join(target, '_delta_log', '00000000000000000000.json'), log);
  const rows = files.reduce((sum, { rowCount }) => sum + rowCount, 0);
  const { experimentId, kind, identifier, name } = table;
  return { experimentId, kind, identifier, name, folder: relative, rows, files: files.length, rewritten };
}

/**
 * Writes every table of the lake as a Delta table, `<folder>/<experiment>/<table>`, and `tables.json` with what is where. Every table is as one moment had it. The folder must be
 * empty or not there. Errors: StartError.
 */
export async function exportDelta(tools: LakeTools, folder: string): Promise<ExportedTable[]> {
  const there = await readdir(folder).catch(() => []);
  if (there.length > 0) throw new StartError(`${folder} is not empty; name a folder that is, or that is not there yet.`);
  await mkdir(folder, { recursive: true });
  const session = await tools.staging.session();
  try {
    const exported: ExportedTable[] = [];
    for (const table of await listTables(tools.db)) exported.push(await exportTable(tools, session, table, folder));
    await writeFile(join(folder, 'tables.json'), `${JSON.stringify(exported, null, 2)}\n`);
    return exported;
  } finally {
    session.close();
  }
}
