/** Puts what macros made of measurements where the pipeline on Databricks picks it up: one JSON object a line, read out of the tables of macros. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fixedColumns, memberOf, physicalColumns } from '../lakehouse/catalog.ts';
import { columnsAt, filesAt, findVersion } from '../lakehouse/manifest.ts';
import { literal, physicalType, quote, type StagingArea } from '../lakehouse/staging.ts';
import { namesIn, numbered, ofAnotherLake, put } from './landing-folder.ts';
import type { Database } from './messages.queries.ts';

const FOLDER = 'macro_outputs';

interface LandingOutputs {
  db: Database;
  staging: StagingArea;
}

interface MacroTable {
  id: string;
  experimentId: string;
  /** The macro's id. */
  identifier: string;
  version: number;
}

const instant = (name: string) => `strftime(${quote(name)} at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`;
const SAME =
  'device_id, device_name, timezone, workbook_run_id, contributor_id, client_id, raw_id, macro_name, macro_filename, macro_version, macro_error';

/** Files of the table now that it did not have at a version, and those of that version that it has not any more. All of them and none when the version is forgotten. */
async function changedFiles({ db }: LandingOutputs, table: MacroTable, since: number): Promise<{ now: string[]; before: string[] }> {
  const now = (await filesAt(db, table.id, table.version)).map(({ path }) => path);
  if (!(await findVersion(db, table.id, since))) return { now, before: [] };
  const before = (await filesAt(db, table.id, since)).map(({ path }) => path);
  return { now: now.filter((path) => !before.includes(path)), before: before.filter((path) => !now.includes(path)) };
}

/** The SELECT of the records of rows; variables hold the files, the experiment and the macro, and `before`, if `isLater`, files with rows that are left out. */
async function records({ db }: LandingOutputs, table: MacroTable, isLater: boolean): Promise<string> {
  const columns = (await columnsAt(db, table.id, table.version)).filter(({ hasValues }) => hasValues);
  const members = columns.map(({ name }) => `${literal(memberOf(name))}, ${quote(name)}`);
  const typed = [...physicalColumns(fixedColumns('macro')), ...columns].map(
    ({ name, type }) => `null::${physicalType(type)} as ${quote(name)}`,
  );
  const read = (files: string) => `read_parquet(getvariable('${files}'), union_by_name = true, hive_partitioning = false)`;
  const isNew = `where not exists (from ${read('before')} as there where there.id = made.id and there.processed_timestamp = made.processed_timestamp)`;
  return `select id as fieldlake_row, getvariable('experiment_id')[1] as experiment_id, ${instant('timestamp')} as measured_at, ${SAME},
      latitude::varchar as latitude, longitude::varchar as longitude, ${instant('processed_timestamp')} as processed_at,
      getvariable('macro_id')[1] as macro_id, ${members.length === 0 ? 'null::varchar' : `cast(json_object(${members.join(', ')}) as varchar)`} as outputs
    from (select ${typed.join(', ')} where false union all by name select * from ${read('files')}) as made
    ${isLater ? isNew : ''}`;
}

/**
 * Lands the rows of a macro's table that are not in the folder yet, or were made anew since. Safe to run again, and beside the service. A folder that knows a later
 * version than there is is an error: it is another lake's.
 */
export async function landOutputs(deps: LandingOutputs, table: MacroTable, landing: string): Promise<{ files: number; rows: number }> {
  const { staging } = deps;
  const folder = join(landing, FOLDER);
  const beginning = `${table.experimentId}-${table.identifier}-`;
  const since = Number((await namesIn(folder, beginning)).at(-1)?.slice(beginning.length, -'.json'.length) ?? 0);
  if (since > table.version) throw ofAnotherLake(landing, table.experimentId);
  const { now, before } = await changedFiles(deps, table, since);
  if (now.length === 0) return { files: 0, rows: 0 };
  const work = join(staging.workFolder, 'landing', randomUUID());
  await mkdir(work, { recursive: true, mode: 0o700 });
  const session = await staging.session();
  try {
    const list = (name: string, values: readonly string[]) => ({
      sql: `set variable ${name} = $1`,
      values: [{ type: { kind: 'string' as const }, value: values }],
    });
    const full = (paths: readonly string[]) => paths.map((path) => join(staging.lakeFolder, path));
    await session.prepare([
      ...[list('files', full(now)), list('before', full(before))],
      ...[list('experiment_id', [table.experimentId]), list('macro_id', [table.identifier])],
    ]);
    const made = join(work, 'outputs.json');
    const [copied] = await session.rows({
      sql: `copy (${await records(deps, table, before.length > 0)}) to ${literal(made)} (format json)`,
      values: [],
    });
    const rows = Number(copied?.['Count']);
    if (rows === 0) return { files: 0, rows };
    await put(folder, `${beginning}${numbered(table.version)}.json`, (path) => copyFile(made, path));
    return { files: 1, rows };
  } finally {
    session.close();
    await rm(work, { recursive: true, force: true });
  }
}
