/** Counts the rows that match. It asks the manifest where that knows, and the engine where it does not. */
import { compile } from '../compile/compile.ts';
import type { Kept, TableSource } from '../terms/source.ts';
import { planRead, type ReadPlan } from '../plan/planner.ts';
import type { ReadRequest } from '../ask/request.ts';
import type { RunOptions, Warehouse } from '../terms/warehouse.ts';

/** The number of matching rows in each file of which the manifest knows it, by path. */
export type KnownRows = ReadonlyMap<string, number>;

const NOTHING: KnownRows = new Map();

/** Finds what the manifest knows of the rows that a filter keeps. */
export const findKnownRows = async (source: TableSource, kept: Kept | null | undefined): Promise<KnownRows> =>
  kept && source.keptRows ? source.keptRows(kept) : NOTHING;

/** Leaves out files that hold no matching row, and notes the known rows of the others. */
export const dropEmptyFiles = (source: TableSource, known: KnownRows): TableSource => {
  const holds = (path: string) => known.get(path) !== 0;
  return {
    ...source,
    files: source.files.filter(holds),
    extents: source.extents?.filter(({ path }) => holds(path)).map((extent) => ({ ...extent, kept: known.get(extent.path) })),
  };
};

/** A read whose rows are to be counted. `known` is found when it is not given. */
export interface Counted {
  source: TableSource;
  request: ReadRequest;
  plan: ReadPlan;
  known?: KnownRows;
}

export const countMatches = async (
  warehouse: Warehouse,
  { source, request, plan, known }: Counted,
  options: RunOptions,
): Promise<number> => {
  if (plan.countsEveryRow && source.rowCount !== undefined) return source.rowCount;
  const rows = known ?? (await findKnownRows(source, plan.kept));
  const others = source.files.filter((path) => !rows.has(path));
  const sum = source.files.reduce((total, path) => total + (rows.get(path) ?? 0), 0);
  if (others.length === 0 && source.files.length > 0) return sum;
  // when no file is known, the plan's own count serves
  const rest = rows.size === 0 ? plan.count : planRead({ ...source, files: others, extents: undefined }, request, null).count;
  const [row] = await warehouse.rows(compile(rest, warehouse.dialect), options);
  return sum + Number(row?.c0 ?? 0);
};
