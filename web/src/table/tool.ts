import type { TableListed } from '../experiments/queries.ts';
import type { TableSearch } from './search.ts';

/** What every tool over a table is given: the question as it is, and how to change it. */
export interface ToolProps {
  experimentId: string;
  table: string;
  search: TableSearch;
  /** All columns of the table. */
  columns: TableListed['columns'];
  /** The newest version. */
  version: number;
  change: (next: Partial<TableSearch>) => void;
}
