/** Reads back stored measurements, and what macros made of them. */
import { listColumnsAt, listFilesAt, findTable } from '../../lakehouse/tables/manifest.ts';
import { listPaths, useSession, type StagingArea } from '../../lakehouse/tables/staging.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import { setVariable } from '../pipeline.ts';
import type { Answer } from './questions.ts';
import type { MeasuredFacts } from './cells.ts';
import type { Database } from './messages.queries.ts';

export interface Measured extends Omit<MeasuredFacts, 'processedAt'> {
  id: string;
  /** JSON text of the sample. */
  data: string | null;
  macroContext: string | null;
  answers: readonly Answer[];
}

/** Ids of some measurements, and the range of their times (ISO 8601). The range says in which files they can be. */
export interface MeasuredIds {
  ids: readonly string[];
  from: string;
  to: string;
}

interface Reading {
  db: Database;
  staging: StagingArea;
}

const emptyWith = (
  names: readonly string[],
) => `select null::varchar as id, null::timestamptz as "timestamp", null::varchar as device_id, null::varchar as device_name, null::varchar as timezone,
  null::double as latitude, null::double as longitude, null::varchar as workbook_run_id, null::varchar as contributor_id, null::varchar as client_id,
  null::json as data, null::varchar as workbook_version_id, null::varchar as macro_context
  ${names.map((name) => `, null::varchar as ${quoteName(name)}`).join('')} where false`;
const rawWith = (names: readonly string[]) =>
  `(${emptyWith(names)} union all by name select * from read_parquet(getvariable('files'), union_by_name = true, hive_partitioning = false))`;
const TIME = `strftime("timestamp" at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`;

const text = (value: unknown) => (typeof value === 'string' ? value : null);
const number = (value: unknown) => (typeof value === 'number' ? value : null);

interface ReadOptions {
  signal?: AbortSignal;
  /** Leaves out the sample, the context and the answers, which may be large. */
  withoutContent?: boolean;
}

/** Reads measurements of an experiment, in no order; those that are not there any more are left out. */
export async function readMeasured(
  deps: Reading,
  experimentId: string,
  wanted: MeasuredIds,
  { signal, withoutContent = false }: ReadOptions = {},
): Promise<Measured[]> {
  const table = await findTable(deps.db, experimentId, 'raw_data');
  const files = table ? await listFilesAt(deps.db, table.id, table.version, { from: wanted.from, to: wanted.to }) : [];
  if (!table || files.length === 0) return [];
  const columns = withoutContent ? [] : await listColumnsAt(deps.db, table.id, table.version);
  const questions = columns.filter(({ origin }) => origin === 'question');
  const names = questions.map(({ name }) => name);
  return useSession(deps.staging, { signal }, async (session) => {
    await session.prepare([setVariable('files', listPaths(deps.staging, files)), setVariable('ids', wanted.ids)]);
    const rows = await session.rows({
      sql: `select id, ${TIME} as at, device_id, device_name, timezone, latitude, longitude, workbook_run_id, contributor_id, client_id,
        ${withoutContent ? 'null as data, null as macro_context' : 'data::varchar as data, macro_context'}
        ${names.map((name, at) => `, ${quoteName(name)} as q${at + 1}`).join('')}
        from ${rawWith(names)} where id in (select unnest(getvariable('ids')))`,
      values: [],
    });
    return rows.map((row) => ({
      id: String(row['id']),
      data: text(row['data']),
      macroContext: text(row['macro_context']),
      answers: questions.map(({ name, originalKey }, at) => ({ label: originalKey ?? name, column: name, text: text(row[`q${at + 1}`]) })),
      contributorId: text(row['contributor_id']),
      clientId: text(row['client_id']),
      facts: {
        timestamp: String(row['at']),
        deviceId: text(row['device_id']),
        deviceName: text(row['device_name']),
        timezone: text(row['timezone']),
        latitude: number(row['latitude']),
        longitude: number(row['longitude']),
        workbookRunId: text(row['workbook_run_id']),
      },
    }));
  });
}

/** SQL for the rows of a macro's table that say of which measurement they are. */
const RESULTS = `from (select null::varchar as raw_id, null::varchar as macro_version where false
  union all by name select * from read_parquet(getvariable('results'), union_by_name = true, hive_partitioning = false)) where raw_id is not null`;
const DELIVERED = `${RESULTS} and macro_version is null`;

/**
 * Finds the measurements of an experiment that name a macro or have a result of it, in pieces of at most `size`, each by time. Measurements that came with an
 * output of the macro are left out unless `includeDelivered` is set.
 */
export async function findNaming(
  deps: Reading,
  { experimentId, macroId, includeDelivered }: { experimentId: string; macroId: string; includeDelivered: boolean },
  size: number,
): Promise<MeasuredIds[]> {
  const { db, staging } = deps;
  const raw = await findTable(db, experimentId, 'raw_data');
  if (!raw) return [];
  const table = await findTable(db, experimentId, macroId);
  const results = table?.kind === 'macro' ? listPaths(staging, await listFilesAt(db, table.id, table.version)) : [];
  const pieces: MeasuredIds[] = [];
  await useSession(staging, {}, async (session) => {
    await session.prepare([setVariable('macro_id', [macroId]), setVariable('results', results)]);
    const made = results.length === 0 ? 'false' : `id in (select raw_id ${RESULTS})`;
    const delivered = includeDelivered || results.length === 0 ? '' : `and id not in (select raw_id ${DELIVERED})`;
    for (const file of await listFilesAt(db, raw.id, raw.version)) {
      await session.prepare([setVariable('files', listPaths(staging, [file]))]);
      const rows = await session.rows({
        sql: `select id, ${TIME} as at from read_parquet(getvariable('files'), hive_partitioning = false)
          where (len(list_filter(macros, lambda m: lower(m.id) = getvariable('macro_id')[1])) > 0 or ${made}) ${delivered} order by "timestamp", id`,
        values: [],
      });
      for (let at = 0; at < rows.length; at += size) {
        const part = rows.slice(at, at + size);
        pieces.push({ ids: part.map(({ id }) => String(id)), from: String(part[0]?.['at']), to: String(part.at(-1)?.['at']) });
      }
    }
  });
  return pieces;
}

/**
 * Finds a row of an experiment's table by its id, with its `columns`, except those whose name a column of the sent data has. Undefined when there is no such
 * row.
 */
export async function findRow(deps: Reading, experimentId: string, identifier: string, rowId: string, columns: readonly string[]) {
  const table = await findTable(deps.db, experimentId, identifier);
  const files = table ? await listFilesAt(deps.db, table.id, table.version) : [];
  if (!table || files.length === 0) return undefined;
  const known = new Set((await listColumnsAt(deps.db, table.id, table.version)).map(({ name }) => name));
  const asked = columns.filter((name) => !known.has(name));
  return useSession(deps.staging, {}, async (session) => {
    await session.prepare([setVariable('files', listPaths(deps.staging, files)), setVariable('ids', [rowId])]);
    const empty = ['id', ...asked].map((name) => `null::varchar as ${name}`).join(', ');
    const [row] = await session.rows({
      sql: `select ${['id', ...asked].join(', ')} from (select ${empty} where false union all by name
        select * from read_parquet(getvariable('files'), union_by_name = true, hive_partitioning = false)) where id = getvariable('ids')[1] limit 1`,
      values: [],
    });
    return row;
  });
}

/** Finds the measurements that brought an output of a macro along. */
export async function findDelivered(deps: Reading, experimentId: string, macroId: string): Promise<ReadonlySet<string>> {
  const table = await findTable(deps.db, experimentId, macroId);
  const files = table?.kind === 'macro' ? await listFilesAt(deps.db, table.id, table.version) : [];
  if (files.length === 0) return new Set();
  return useSession(deps.staging, {}, async (session) => {
    await session.prepare([setVariable('results', listPaths(deps.staging, files))]);
    const rows = await session.rows({ sql: `select distinct raw_id ${DELIVERED}`, values: [] });
    return new Set(rows.map((row) => String(row['raw_id'])));
  });
}
