import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLogKey } from '../../src/lakehouse/tables/delta/places.ts';

/** The files with rows that lie in a lake: `tables/<experiment>/<table>/<file>.parquet`. */
export const dataFiles = (lakeFolder: string): { path: string; tableId: string }[] =>
  readdirSync(lakeFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^tables\/.*\.parquet$/.test(name) && !isLogKey(name))
    .map((name) => ({ path: join(lakeFolder, name), tableId: name.split('/')[2] ?? '' }));

/** The same of one table. */
export const dataFilesOf = (lakeFolder: string, tableId: string): string[] =>
  dataFiles(lakeFolder).flatMap((file) => (file.tableId === tableId ? file.path : []));
