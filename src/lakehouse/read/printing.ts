/** Prints the rows of a plan in the form in which they are answered. */
import { Readable } from 'node:stream';
import { hasDocuments, quoteLargeIntegers, quoteLargeIntegersIn } from '../terms/large-integers.ts';
import type { Output, Plan } from '../terms/plan.ts';
import type { ReadPlan } from '../plan/planner.ts';
import type { RunOptions, Statement, StreamFormat, Warehouse } from '../terms/warehouse.ts';

const references = ({ columns }: Pick<ReadPlan, 'columns'>): Output[] =>
  columns.map(({ as, name, type }) => ({ as, name, expr: { kind: 'column', name: as, type } }));

/** Plans the rows of a read as text or values for the answer. */
export const printRows = (plan: ReadPlan, format: 'json' | 'csv' | 'typed', guard = false): Plan => ({
  kind: 'print',
  from: plan.rows,
  format,
  outputs: references(plan),
  guard,
  ...(plan.keys ? { keys: plan.keys } : {}),
  ...(plan.beyond ? { beyond: plan.beyond } : {}),
});

/** Whether rows hold documents. Large whole numbers in them become text in JSON. */
const haveDocuments = ({ columns }: Pick<ReadPlan, 'columns'>): boolean => columns.some(({ type }) => hasDocuments(type));

/** Joins rows that were printed as JSON by commas. */
export const printAsOne = (plan: ReadPlan, rows: readonly { line?: unknown }[]): Readable => {
  const text = Buffer.from(rows.map(({ line }) => String(line)).join(','));
  return Readable.from(text.length === 0 ? [] : [haveDocuments(plan) ? quoteLargeIntegers(text) : text], { objectMode: false });
};

/** Streams rows as bytes, as the engine prints them. */
export const streamRows = async (
  warehouse: Warehouse,
  plan: ReadPlan,
  { statement, format }: { statement: Statement; format: StreamFormat },
  options: RunOptions,
): Promise<Readable> => {
  const source = await warehouse.stream(statement, format, options);
  return format !== 'csv' && haveDocuments(plan) ? quoteLargeIntegersIn(source) : source;
};
