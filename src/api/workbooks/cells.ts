import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Problem } from '../../errors.ts';
import { canonicaliseQuestion } from '../flow/flow.service.ts';

// an edge of the flow is named by up to three of these
const id = z.string().min(1).max(80);
const common = { id, isCollapsed: z.boolean().default(false) };
const name = z.string().max(255).optional().describe('What the step is called on the page and in the flow.');
const asked = {
  text: z.string().max(64).describe('What is asked.'),
  required: z.boolean().default(false).describe('Whether it must be answered; false by default.'),
};

const question = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('yes_no').describe('The answer is yes or no.'), ...asked }),
  z.strictObject({ kind: z.literal('open_ended').describe('The answer is any text.'), ...asked }),
  z.strictObject({ kind: z.literal('number').describe('The answer is a number.'), ...asked }),
  z.strictObject({
    kind: z.literal('multi_choice').describe('The answer is one of `options`.'),
    ...asked,
    options: z.array(z.string().min(1).max(64)).min(1).max(500).describe('Answers to choose from.'),
  }),
]);

const condition = z.object({
  id: id.describe('Names the condition.'),
  sourceCellId: z.string().max(255).describe('Cell before the branch whose result is looked at; `$device` looks at the device.'),
  field: z.string().max(255).describe('Member of that result.'),
  operator: z.enum(['eq', 'neq', 'gt', 'lt', 'gte', 'lte']).describe('How the member is compared with `value`.'),
  value: z.string().max(10_000).describe('What the member is compared with, as text.'),
});

const path = z.object({
  id: id.describe('Names the path within the branch.'),
  label: z.string().max(64).describe('What stands at the path.'),
  color: z.string().max(64).describe('Colour that a screen draws the path in.'),
  conditions: z.array(condition).max(100).describe('What must hold for the path to be taken.'),
  gotoCellId: z.string().max(255).optional().describe('Cell that the path leads to; the next one when absent.'),
});

const device = z.object({
  deviceId: z.string().max(255).describe('Device that answered, as the client names it.'),
  deviceLabel: z.string().max(255).optional().describe('How a screen shows the device.'),
  family: z.string().max(64).optional().describe('Kind of instrument.'),
  deviceName: z.string().max(255).optional().describe('What people call the device.'),
  data: z.unknown().optional().describe('What the device answered.'),
  error: z.string().max(10_000).optional().describe('Why the device gave no answer.'),
});

/** A cell, by type. The published API document is made from this shape. */
export const cellShape = z.discriminatedUnion('type', [
  z.object({
    ...common,
    type: z.literal('protocol'),
    payload: z
      .strictObject({
        protocolId: z.guid().toLowerCase().describe('Protocol that is run.'),
        version: z.number().int().min(1).max(2_147_483_647).describe('Version of the protocol, as the client noted it.'),
        name,
      })
      .describe('The protocol.'),
  }),
  z.object({
    ...common,
    type: z.literal('command'),
    payload: z
      .strictObject({
        format: z.enum(['string', 'json', 'yaml']).describe('How `content` is written.'),
        content: z.string().min(1).max(1_000_000).describe('What is sent to the instrument.'),
        name,
      })
      .describe('The command.'),
  }),
  z.object({
    ...common,
    type: z.literal('macro'),
    payload: z
      .strictObject({
        macroId: z.guid().toLowerCase().describe('Macro that is run.'),
        language: z.enum(['python', 'r', 'javascript']).describe('Language of the macro, as the client noted it.'),
        name,
      })
      .describe('The macro.'),
  }),
  z.object({
    ...common,
    type: z.literal('question'),
    name: z.string().min(1).max(64).describe('Label whose canonical form is the column of the answers.'),
    question: question.describe('What is asked, and how it is answered.'),
    answer: z.string().max(100_000).optional().describe('Answer of the last run; versions leave it out.'),
    isAnswered: z.boolean().default(false).describe('Whether the last run was answered; false by default.'),
  }),
  z.object({
    ...common,
    type: z.literal('branch'),
    paths: z.array(path).min(1).max(100).describe('Ways to go on.'),
    defaultPathId: z.string().max(255).optional().describe('Path that is taken when no other is.'),
    evaluatedPathId: z.string().max(255).optional().describe('Path that the last run took; versions leave it out.'),
  }),
  z.object({
    ...common,
    type: z.literal('output'),
    producedBy: z.string().max(255).describe('Cell whose output it is.'),
    data: z.unknown().optional().describe('What that cell made.'),
    executionTime: z.number().min(0).optional().describe('How long the run took, as the client measured it.'),
    messages: z.array(z.string().max(10_000)).max(1_000).optional().describe('What the run said.'),
    deviceResults: z.array(device).max(1_000).optional().describe('What each device answered, where several were asked.'),
  }),
  z.object({ ...common, type: z.literal('markdown'), content: z.string().max(1_000_000).describe('Text of the note, as Markdown.') }),
]);

export type Cell = z.infer<typeof cellShape>;

/** Cells of a workbook: seven kinds, at most 1,000. */
export const cellsShape: z.ZodType<Cell[]> = z.array(cellShape).max(1_000);

/** Lists problems that a shape cannot express: question names whose canonical forms are the same. */
export function listCellProblems(cells: readonly Cell[]): Problem[] {
  const owners = new Map<string, number>();
  return cells.flatMap((given, index) => {
    if (given.type !== 'question') return [];
    const column = canonicaliseQuestion(given.name);
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

/** Lists the protocols and macros that the cells name, each once. */
export function listUses(cells: readonly Cell[]): Use[] {
  const uses = new Map<string, Use>();
  for (const given of cells) {
    if (given.type === 'protocol') uses.set(given.payload.protocolId, { type: 'protocol', id: given.payload.protocolId });
    if (given.type === 'macro') uses.set(given.payload.macroId, { type: 'macro', id: given.payload.macroId });
  }
  return [...uses.values()];
}

const RUN_DATA = new Set(['isAnswered', 'answer', 'evaluatedPathId', 'data', 'executionTime', 'messages']);

/** Removes from cells what a run left in them: outputs and answers. */
export const dropRunData = (cells: readonly Cell[]): Cell[] =>
  cells
    .filter(({ type }) => type !== 'output')
    .map((given) => Object.fromEntries(Object.entries(given).filter(([key]) => !RUN_DATA.has(key))) as Cell);

/** Prints a value as a text that is the same whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join(',')}}`;
}

/** Hashes the design of cells by SHA-256. Anything that a run or a look at the page changes is not part of the design. */
export function hashDesign(cells: readonly Cell[]): Buffer {
  const design = dropRunData(cells).map(({ isCollapsed: _isCollapsed, ...rest }) => rest);
  return createHash('sha256').update(canonical(design)).digest();
}
