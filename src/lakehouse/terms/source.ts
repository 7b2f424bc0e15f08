/** Defines what a read is based on: one version of a table, as the manifest lists it. */
import type { Column, ColumnType, ReadableKind } from './catalog.ts';
import type { FileExtent } from './extents.ts';
import type { KeptRanges } from './kept-ranges.ts';
import type { KeptValues } from './kept-values.ts';
import type { TableRows } from './plan.ts';
import type { ExperimentScope } from './scope.ts';

/** The part of a filter of which the manifest may know the number of rows: the values of one column, and ranges of any columns. */
export interface Kept {
  values: KeptValues | null;
  ranges: KeptRanges | null;
}

/** A column whose distinct values are asked of the manifest. */
export interface AskedTexts {
  column: string;
  /** `printType` of the column. */
  type: string;
  order: 'number' | 'text';
  /** The most texts of the answer. */
  limit: number;
}

/** A column that metadata adds to a table. */
export interface MetadataColumn {
  /** Its name in the table. */
  name: string;
  /** Its name in the dimension. */
  stored: string;
  type: ColumnType;
  /** The columns of measurements that its rows are matched by. When two of them both give a value, the earlier in this list counts. */
  matchedBy: readonly string[];
}

export interface MetadataSource extends TableRows {
  columns: readonly MetadataColumn[];
  /** For rows of a macro, the measurements from which they were made. Those hold the answers. */
  answers?: TableRows & { columns: readonly Column[] };
}

/** One version of one table, as the manifest lists it. Every read is based on one. */
export interface TableSource extends TableRows {
  scope: ExperimentScope;
  table: { kind: ReadableKind; identifier: string };
  /** The catalogue of that version: `listFixedColumns(kind)` and the expanded ones, hidden columns included. */
  columns: readonly Column[];
  version: string;
  /** The same files with what the manifest knows of each. A page in the default order then opens few of them. */
  extents?: readonly FileExtent[];
  /** Counts the rows that a filter keeps in each file of which the manifest knows it, by path. */
  keptRows?: (kept: Kept) => Promise<ReadonlyMap<string, number>>;
  /** Lists the distinct values of a stored column as ascending texts, without the empty one; null where the manifest does not know all of them. */
  notedTexts?: (asked: AskedTexts) => Promise<readonly string[] | null>;
  /** The experiment's identity dimension. Without rows in it every contributor is null, and nothing is joined for it. */
  identity?: TableRows;
  /** The device registry dimension; without rows every device is null. */
  registry?: TableRows;
  /** The experiment's annotation log; without it every row has no annotations. */
  annotations?: TableRows;
  /** What people have said of plots, plants and devices. `columns` has its columns too, as derived ones. */
  metadata?: MetadataSource;
}
