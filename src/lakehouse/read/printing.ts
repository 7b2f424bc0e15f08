/** The rows of a plan as they go out: which columns, in which form. */
import { Readable } from 'node:stream';
import { hasDocuments, quoteLargeIntegers, quoteLargeIntegersIn } from '../terms/large-integers.ts';
import type { Output, Plan } from '../terms/plan.ts';
import type { ReadPlan } from '../plan/planner.ts';
import type { RunOptions, Statement, StreamFormat, Warehouse } from '../terms/warehouse.ts';

const references = ({ columns }: Pick<ReadPlan, 'columns'>): Output[] =>
  columns.map(({ as, name, type }) => ({ as, name, expr: { kind: 'column', name: as, type } }));

/** The rows of a plan as text or values that go out. */
export const printRows = (plan: ReadPlan, format: 'json' | 'csv' | 'typed', guard = false): Plan => ({
  kind: 'print',
  from: plan.rows,
  format,
  outputs: references(plan),
  guard,
  ...(plan.keys ? { keys: plan.keys } : {}),
  ...(plan.beyond ? { beyond: plan.beyond } : {}),
});

/** Whether rows hold documents, whose large whole numbers are text in JSON. */
const haveDocuments = ({ columns }: Pick<ReadPlan, 'columns'>): boolean => columns.some(({ type }) => hasDocuments(type));

/** Rows that were printed as JSON, joined by commas. */
export const printAsOne = (plan: ReadPlan, lines: readonly unknown[]): Readable => {
  const text = Buffer.from(lines.map(String).join(','));
  return Readable.from(text.length === 0 ? [] : [haveDocuments(plan) ? quoteLargeIntegers(text) : text], { objectMode: false });
};

/** Rows as bytes, as the engine prints them. */
export const streamRows = async (
  warehouse: Warehouse,
  plan: ReadPlan,
  { statement, format }: { statement: Statement; format: StreamFormat },
  options: RunOptions,
): Promise<Readable> => {
  const source = await warehouse.stream(statement, format, options);
  return format !== 'csv' && haveDocuments(plan) ? quoteLargeIntegersIn(source) : source;
};
