import { physicalColumns, type Column } from './catalog.ts';
import type { ScanColumn } from './plan.ts';

/** The physical columns of a table as a scan names them. */
export const scanColumns = (columns: readonly Column[]): ScanColumn[] =>
  physicalColumns(columns).map(({ name, type, hasValues }) => ({
    kind: 'column',
    name,
    type,
    ...(hasValues === false ? { isEmpty: true as const } : {}),
  }));
