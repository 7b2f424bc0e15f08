/** Replaces rows of tables, whose files are immutable: they are written anew without those rows. */
import { join } from 'node:path';
import { removeUnlessCommitted, retryUnchanged } from '../../lakehouse/tables/attempts.ts';
import { listFilesAt, type ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { LakeFile } from '../../lakehouse/tables/manifest-rows.ts';
import { setFilesVariable, writeSelect, type Rewritten } from '../../lakehouse/tables/rewriting.ts';
import { useFolder, useSession, type StagingSession } from '../../lakehouse/tables/staging.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { setVariable } from '../pipeline.ts';
import type { Batch } from './tables.ts';

/** What rows are replaced with. */
export type ReplacingDeps = Pick<Batch, 'db' | 'staging' | 'pipelines'>;

const TRIES = 12;

/**
 * Runs a replacement of rows, and runs it anew when somebody else changes the table meanwhile. It adds what it stages to `written`, which is removed when it
 * fails.
 */
export async function replaceRows<T>(
  deps: ReplacingDeps,
  experimentId: string,
  replace: (batch: Batch, written: (Staged | undefined)[]) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { staging } = deps;
  return useFolder(staging, (work) => {
    const attempt = (session: StagingSession) => {
      const written: (Staged | undefined)[] = [];
      return removeUnlessCommitted(deps, written, () => replace({ ...deps, session, experimentId, work }, written));
    };
    return retryUnchanged(TRIES, () => useSession(staging, { signal }, attempt));
  });
}

const EXPRESSION = { raw_id: 'raw_id', source: 'substr(id, 1, 20)' } as const;

/** The column that the engine adds for the path of a file; no column of a table begins with a blank. */
const PATH_COLUMN = ' path';

/** Rows to leave out: those whose measurement (`raw_id`) or source (the first 20 digits of the id) is one of `values`. */
export interface Replaced {
  key: 'raw_id' | 'source';
  values: readonly string[];
}

/**
 * Stages anew, without some rows, the files of a table that hold those rows, and in any case the files of `also` (by absolute path). `from` and `to` are
 * values of the sort column, and say in which files the rows can be.
 */
export async function stageWithout(
  batch: Batch,
  table: { id: string; version: number; known: readonly ColumnState[] },
  { key, values }: Replaced,
  { from, to, also = new Map() }: { from?: string; to?: string; also?: ReadonlyMap<string, LakeFile> } = {},
): Promise<Rewritten> {
  const { db, session, staging, experimentId } = batch;
  const files = await listFilesAt(db, table.id, table.version, { from, to });
  const nothing: Rewritten = { retire: [] };
  if (files.length === 0 && also.size === 0) return nothing;
  const full = new Map([...also, ...files.map((file) => [join(staging.lakeFolder, file.path), file] as const)]);
  await session.prepare([setFilesVariable([...full.keys()]), setVariable('replaced', values)]);
  const held = await session.rows({
    sql: `select distinct "${PATH_COLUMN}" as path from read_parquet(getvariable('files'), filename = '${PATH_COLUMN}', union_by_name = true, hive_partitioning = false)
      where ${EXPRESSION[key]} in (select unnest(getvariable('replaced')))`,
    values: [],
  });
  const paths = [...new Set([...also.keys(), ...held.map(({ path }) => String(path))])];
  if (paths.length === 0) return nothing;
  await session.prepare([setFilesVariable(paths)]);
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: {
      sql: writeSelect(table.known, `${EXPRESSION[key]} not in (select unnest(getvariable('replaced')))`),
      values: [],
    },
    sortColumn: 'timestamp',
  });
  return { retire: paths.map((path) => full.get(path)?.id ?? ''), staged };
}
