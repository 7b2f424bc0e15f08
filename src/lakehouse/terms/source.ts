/** What a read stands on: one version of a table, as the manifest lists it. */
import type { Column, ColumnType, ReadableKind } from './catalog.ts';
import type { FileExtent } from './extents.ts';
import type { KeptRanges } from './kept-ranges.ts';
import type { KeptValues } from './kept-values.ts';
import type { TableRows } from './plan.ts';
import type { ExperimentScope } from './scope.ts';

/** The part of a filter whose rows the manifest may know: the values of one column, and the ranges of any. */
export interface Kept {
  values: KeptValues | null;
  ranges: KeptRanges | null;
}

/** A column that metadata adds to a table. */
export interface MetadataColumn {
  /** Its name in the table. */
  name: string;
  /** Its name in the dimension. */
  stored: string;
  type: ColumnType;
  /** The columns of measurements that its rows are matched by; of two that both give a value, the earlier of this list counts. */
  matchedBy: readonly string[];
}

export interface MetadataSource extends TableRows {
  columns: readonly MetadataColumn[];
  /** For rows of a macro: the measurements that they were made from, which hold the answers. */
  answers?: TableRows & { columns: readonly Column[] };
}

/** One version of one table, as the manifest lists it: what a read stands on. There is no read without one. */
export interface TableSource extends TableRows {
  scope: ExperimentScope;
  table: { kind: ReadableKind; identifier: string };
  /** The catalogue of that version: `listFixedColumns(kind)` and the expanded ones, hidden columns included. */
  columns: readonly Column[];
  version: string;
  /** The same files with what the manifest knows of each, so that a page in the default order opens few of them. */
  extents?: readonly FileExtent[];
  /** Rows that a filter keeps, of each of those files of which the manifest knows, by path. */
  keptRows?: (kept: Kept) => Promise<ReadonlyMap<string, number>>;
  /** The experiment's identity dimension; without rows every contributor is null, and nothing is joined for it. */
  identity?: TableRows;
  /** The device registry dimension; without rows every device is null. */
  registry?: TableRows;
  /** The experiment's annotation log; without it every row has no annotations. */
  annotations?: TableRows;
  /** What people have said of plots, plants and devices; its columns are among `columns`, derived. */
  metadata?: MetadataSource;
}
