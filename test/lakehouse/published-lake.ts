/** What lies under the path of a published table, for the engine behind the tests' Thrift server: as its log says, read by nothing of ours. */
import { join } from 'node:path';
import type { FindVersion } from '../support/databricks-engine.ts';
import { selectFiles } from './databricks-lake.ts';
import { snapshotAt } from './log-reader.ts';

/** Delta's scalar types whose DuckDB names are others. */
const NAMES: Readonly<Record<string, string>> = { long: 'bigint', string: 'varchar', timestamp: 'timestamptz', timestamp_ntz: 'timestamp' };

/** `root`: the folder that is published under `url`, once there is one. */
export const publishedUnder =
  (url: string, root: () => string): FindVersion =>
  (asked, version) => {
    if (!asked.startsWith(`${url}/`)) throw new Error(`[PATH_NOT_FOUND] ${asked}`);
    const folder = join(root(), asked.slice(url.length + 1));
    const { schema, files } = snapshotAt(folder, version);
    const columns = schema.flatMap(({ name, type }) => (typeof type === 'string' ? { name, type: NAMES[type] ?? type } : []));
    const paths = [...files.keys()].map((name) => join(folder, name));
    const read = ({ name }: { name: string }) => `"${name.replaceAll('"', '""')}"`;
    if (paths.length === 0) return selectFiles([], columns);
    return `select ${columns.map(read).join(', ')} from (${selectFiles(paths, columns)})`;
  };
