import { listPhysicalColumns, type Column } from '../terms/catalog.ts';
import type { ScanColumn } from '../terms/plan.ts';

/** Lists the physical columns of a table as a scan names them. */
export const scanColumns = (columns: readonly Column[]): ScanColumn[] =>
  listPhysicalColumns(columns).map(({ name, type, hasValues }) => ({
    kind: 'column',
    name,
    type,
    ...(hasValues === false ? { isEmpty: true as const } : {}),
  }));
