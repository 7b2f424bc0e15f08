import { listPhysicalColumns, type Column } from '../terms/catalog.ts';
import type { Places, Plan, ScanColumn } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';

/** Lists the physical columns of a table as a scan names them. */
export const scanColumns = (columns: readonly Column[]): ScanColumn[] =>
  listPhysicalColumns(columns).map(({ name, type, hasValues }) => ({
    kind: 'column',
    name,
    type,
    ...(hasValues === false ? { isEmpty: true as const } : {}),
  }));

/** Makes what gives a name, in lower case, that no column of a table has. */
export const makeNamer = (columns: readonly Column[]): ((name: string) => string) => {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const nameUnused = (name: string): string => (taken.has(name) ? nameUnused(`${name}_`) : name);
  return nameUnused;
};

/** Plans the scan of a table that reads those of its columns that are used. */
export const planScan = ({ scope, table, columns, files, live }: TableSource, used: ReadonlySet<string>, places?: Places): Plan => ({
  kind: 'scan',
  scope,
  table,
  columns: scanColumns(columns),
  needed: listPhysicalColumns(columns)
    .map((column) => column.name)
    .filter((name) => used.has(name)),
  rows: { files, live },
  places,
});
