import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Problem } from '../../errors.ts';
import { canonicalQuestion } from '../flow/flow.service.ts';

// an edge of the flow is named by up to three of these
const id = z.string().min(1).max(80);
const common = { id, isCollapsed: z.boolean().default(false) };
const name = z.string().max(255).optional();
const asked = { text: z.string().max(64), required: z.boolean().default(false) };

const question = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('yes_no'), ...asked }),
  z.strictObject({ kind: z.literal('open_ended'), ...asked }),
  z.strictObject({ kind: z.literal('number'), ...asked }),
  z.strictObject({ kind: z.literal('multi_choice'), ...asked, options: z.array(z.string().min(1).max(64)).min(1).max(500) }),
]);

const condition = z.object({
  id,
  sourceCellId: z.string().max(255),
  field: z.string().max(255),
  operator: z.enum(['eq', 'neq', 'gt', 'lt', 'gte', 'lte']),
  value: z.string().max(10_000),
});

const path = z.object({
  id,
  label: z.string().max(64),
  color: z.string().max(64),
  conditions: z.array(condition).max(100),
  gotoCellId: z.string().max(255).optional(),
});

const device = z.object({
  deviceId: z.string().max(255),
  deviceLabel: z.string().max(255).optional(),
  family: z.string().max(64).optional(),
  deviceName: z.string().max(255).optional(),
  data: z.unknown().optional(),
  error: z.string().max(10_000).optional(),
});

/** A cell, by type; the published document is made from it. */
export const cellShape = z.discriminatedUnion('type', [
  z.object({
    ...common,
    type: z.literal('protocol'),
    payload: z.strictObject({ protocolId: z.guid().toLowerCase(), version: z.number().int().min(1).max(2_147_483_647), name }),
  }),
  z.object({
    ...common,
    type: z.literal('command'),
    payload: z.strictObject({ format: z.enum(['string', 'json', 'yaml']), content: z.string().min(1).max(1_000_000), name }),
  }),
  z.object({
    ...common,
    type: z.literal('macro'),
    payload: z.strictObject({ macroId: z.guid().toLowerCase(), language: z.enum(['python', 'r', 'javascript']), name }),
  }),
  z.object({
    ...common,
    type: z.literal('question'),
    name: z.string().min(1).max(64),
    question,
    answer: z.string().max(100_000).optional(),
    isAnswered: z.boolean().default(false),
  }),
  z.object({
    ...common,
    type: z.literal('branch'),
    paths: z.array(path).min(1).max(100),
    defaultPathId: z.string().max(255).optional(),
    evaluatedPathId: z.string().max(255).optional(),
  }),
  z.object({
    ...common,
    type: z.literal('output'),
    producedBy: z.string().max(255),
    data: z.unknown().optional(),
    executionTime: z.number().min(0).optional(),
    messages: z.array(z.string().max(10_000)).max(1_000).optional(),
    deviceResults: z.array(device).max(1_000).optional(),
  }),
  z.object({ ...common, type: z.literal('markdown'), content: z.string().max(1_000_000) }),
]);

export type Cell = z.infer<typeof cellShape>;

/** Cells of a workbook: seven kinds, at most 1,000. */
export const cellsShape: z.ZodType<Cell[]> = z.array(cellShape).max(1_000);

/** What a shape cannot say: question names whose canonical forms are the same. */
export function cellProblems(cells: readonly Cell[]): Problem[] {
  const owners = new Map<string, number>();
  return cells.flatMap((given, index) => {
    if (given.type !== 'question') return [];
    const column = canonicalQuestion(given.name);
    const first = owners.get(column);
    if (first !== undefined) return [{ path: `/cells/${index}/name`, message: `gives the column '${column}', as cells[${first}] does` }];
    owners.set(column, index);
    return [];
  });
}

export function countTypes(cells: readonly Cell[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of cells) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

export interface Use {
  type: 'protocol' | 'macro';
  id: string;
}

/** Protocols and macros that the cells name, each once. */
export function usesOf(cells: readonly Cell[]): Use[] {
  const uses = new Map<string, Use>();
  for (const given of cells) {
    if (given.type === 'protocol') uses.set(given.payload.protocolId, { type: 'protocol', id: given.payload.protocolId });
    if (given.type === 'macro') uses.set(given.payload.macroId, { type: 'macro', id: given.payload.macroId });
  }
  return [...uses.values()];
}

const RUN_DATA = new Set(['isAnswered', 'answer', 'evaluatedPathId', 'data', 'executionTime', 'messages']);

/** Cells without what a run left in them: no outputs, no answers. */
export const withoutRunData = (cells: readonly Cell[]): Cell[] =>
  cells
    .filter(({ type }) => type !== 'output')
    .map((given) => Object.fromEntries(Object.entries(given).filter(([key]) => !RUN_DATA.has(key))) as Cell);

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join(',')}}`;
}

/** SHA-256 of the design: what a run or a look at the page changes is not part of it. */
export function designDigest(cells: readonly Cell[]): Buffer {
  const design = withoutRunData(cells).map(({ isCollapsed: _isCollapsed, ...rest }) => rest);
  return createHash('sha256').update(canonical(design)).digest();
}
