/** A reader of Delta logs that knows nothing of the writer: it replays entries, or begins at the last checkpoint. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

export interface LogSnapshot {
  protocol: { minReaderVersion: number; minWriterVersion: number; readerFeatures?: string[] | null; writerFeatures?: string[] | null };
  schema: { name: string; type: unknown; metadata: Record<string, unknown> }[];
  configuration: Record<string, string>;
  /** Statistics of live files, by path. */
  files: Map<
    string,
    { size: number; stats: { numRecords: number; minValues: any; maxValues: any; nullCount: any; tightBounds?: boolean } }
  >;
}

type Action = Record<string, any>;

const named = (version: number) => String(version).padStart(20, '0');

/** The versions that have an entry, in order. */
export const versionsIn = (folder: string): number[] =>
  (existsSync(join(folder, '_delta_log')) ? readdirSync(join(folder, '_delta_log')) : [])
    .filter((name) => /^\d{20}\.json$/.test(name))
    .map((name) => Number(name.slice(0, 20)))
    .sort((a, b) => a - b);

export const entryOf = (folder: string, version: number): Action[] =>
  readFileSync(join(folder, '_delta_log', `${named(version)}.json`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Action);

/** What entries say together, in order. */
export function replay(entries: Iterable<Action[]>): LogSnapshot {
  const found: Partial<LogSnapshot> & { files: LogSnapshot['files'] } = { files: new Map() };
  for (const actions of entries) {
    const paths = actions.flatMap(({ add, remove }) => (add ?? remove)?.path ?? []);
    if (new Set(paths).size !== paths.length) throw new Error('one path, two actions');
    for (const { protocol, metaData, add, remove } of actions) {
      if (protocol) found.protocol = protocol;
      if (metaData) {
        found.schema = JSON.parse(metaData.schemaString).fields;
        found.configuration = metaData.configuration;
      }
      if (remove && !found.files.delete(remove.path)) throw new Error(`${remove.path} is removed and was not there`);
      if (add) found.files.set(add.path, { size: Number(add.size), stats: JSON.parse(add.stats) });
    }
  }
  return found as LogSnapshot;
}

/** A version as its entries from 0 on say. */
export const snapshotAt = (folder: string, version: number): LogSnapshot =>
  replay(Array.from({ length: version + 1 }, (_, at) => entryOf(folder, at)));

/** The same, begun at the last checkpoint before it. */
export async function snapshotFromCheckpoint(reader: DuckDBConnection, folder: string, version: number): Promise<LogSnapshot> {
  const hint = JSON.parse(readFileSync(join(folder, '_delta_log', '_last_checkpoint'), 'utf8')) as { version: number; size: number };
  const path = join(folder, '_delta_log', `${named(hint.version)}.checkpoint.parquet`);
  const rows = (await reader.runAndReadAll(`select to_json(columns(*)) from read_parquet('${path}')`)).getRowObjects();
  if (rows.length !== hint.size) throw new Error(`the checkpoint has ${rows.length} actions, not ${hint.size}`);
  const actions = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, text]) => (text === null || text === 'null' ? [] : [[name, JSON.parse(String(text))]])),
    ),
  );
  // what was removed before is not there to be removed
  const live = actions.filter((action) => !('remove' in action));
  const later = Array.from({ length: version - hint.version }, (_, at) => entryOf(folder, hint.version + 1 + at));
  return replay([live, ...later]);
}
