import { z } from 'zod';
import type { Problem } from '../../errors.ts';
import type { FlowGraph, FlowNode } from './flow.model.ts';
import { canonicaliseQuestion, isReservedColumn } from './questions.ts';

const id = z.string().min(1).max(255);
const params = z.record(z.string().max(255), z.unknown()).optional().describe('Settings for whoever carries the step out.');
const question = {
  text: z.string().max(64).describe('What is asked.'),
  required: z.boolean().default(false).describe('Whether it must be answered; false by default.'),
};

const content = {
  question: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('yes_no').describe('The answer is yes or no.'), ...question }),
    z.object({ kind: z.literal('open_ended').describe('The answer is any text.'), ...question }),
    z.object({ kind: z.literal('number').describe('The answer is a number.'), ...question }),
    z.object({
      kind: z.literal('multi_choice').describe('The answer is one of `options`.'),
      ...question,
      options: z.array(z.string().min(1).max(64)).min(1).max(500).describe('Answers to choose from.'),
    }),
  ]),
  instruction: z.object({ text: z.string().min(1).max(100_000).describe('What a person is to do.') }),
  measurement: z.union(
    [
      z.object({ protocolId: z.guid().describe('Protocol that is run.'), params }),
      z.object({
        command: z
          .object({
            format: z.enum(['string', 'json', 'yaml']).describe('How `content` is written.'),
            content: z.string().min(1).max(1_000_000).describe('What is sent to the instrument.'),
          })
          .describe('The command.'),
        params,
      }),
    ],
    { error: 'must have a protocolId, or a command with format (string, json or yaml) and content' },
  ),
  analysis: z.object({ macroId: z.guid().describe('Macro that is run.'), params }),
  branch: z.object({
    paths: z
      .array(
        z.object({
          id: id.describe('Names the path; edges give it as `sourceHandle`.'),
          label: z.string().max(64).describe('What stands at the path.'),
          color: z.string().max(64).describe('Colour that a screen draws the path in.'),
        }),
      )
      .min(1)
      .max(100)
      .describe('Ways to go on.'),
    defaultPathId: id.optional().describe('Path that is taken when no other is.'),
  }),
};

const common = {
  id,
  name: z.string().min(1).max(64),
  isStart: z.boolean().default(false),
  position: z.object({ x: z.number(), y: z.number() }).optional(),
};

/** A node, by type. The published API document is made from this shape. */
export const nodeShape = z.discriminatedUnion('type', [
  z.object({ ...common, type: z.literal('question'), content: content.question }),
  z.object({ ...common, type: z.literal('instruction'), content: content.instruction }),
  z.object({ ...common, type: z.literal('measurement'), content: content.measurement }),
  z.object({ ...common, type: z.literal('analysis'), content: content.analysis }),
  z.object({ ...common, type: z.literal('branch'), content: content.branch }),
]);

export const edgeShape = z.object({
  id,
  source: id,
  target: id,
  label: z.string().max(64).nullable().optional(),
  sourceHandle: z.string().max(64).nullable().optional(),
});

/** Shape and bounds of a graph. Rules that a shape cannot express are in `listGraphProblems`. */
export const graphShape: z.ZodType<FlowGraph> = z.object({
  nodes: z.array(nodeShape).max(1_000),
  edges: z.array(edgeShape).max(5_000),
});

function repeated(items: readonly { id: string }[], where: string): Problem[] {
  const seen = new Set<string>();
  return items.flatMap(({ id: given }, index) => {
    if (!seen.has(given)) {
      seen.add(given);
      return [];
    }
    return [{ path: `${where}/${index}/id`, message: 'is the id of an earlier one' }];
  });
}

function questionProblems(nodes: readonly FlowNode[], root: string): Problem[] {
  const owners = new Map<string, number>();
  return nodes.flatMap(({ type, name }, index) => {
    if (type !== 'question') return [];
    const path = `${root}/nodes/${index}/name`;
    const column = canonicaliseQuestion(name);
    if (isReservedColumn(column)) return [{ path, message: `makes the column '${column}', which every measurement has` }];
    const first = owners.get(column);
    if (first !== undefined) return [{ path, message: `makes the column '${column}', as nodes[${first}] does` }];
    owners.set(column, index);
    return [];
  });
}

function branchProblems(nodes: readonly FlowNode[], root: string): Problem[] {
  return nodes.flatMap(({ type, content: given }, index) => {
    if (type !== 'branch') return [];
    const { paths, defaultPathId } = given as { paths: { id: string }[]; defaultPathId?: string };
    const where = `${root}/nodes/${index}/content`;
    const unknown = defaultPathId !== undefined && !paths.some((path) => path.id === defaultPathId);
    return [
      ...repeated(paths, `${where}/paths`),
      ...(unknown ? [{ path: `${where}/defaultPathId`, message: 'is not the id of one of the paths' }] : []),
    ];
  });
}

/**
 * Lists what is wrong with a graph of the right shape: not exactly one start, ids that repeat, edges that lead nowhere, question names that clash with each
 * other or with a column of every measurement. Loops are allowed: a person may measure again.
 */
export function listGraphProblems({ nodes, edges }: FlowGraph, root: string): Problem[] {
  const starts = nodes.filter(({ isStart }) => isStart === true).length;
  const ids = new Set(nodes.map((given) => given.id));
  const dangling = edges.flatMap((given, index) =>
    (['source', 'target'] as const).flatMap((end) =>
      ids.has(given[end]) ? [] : [{ path: `${root}/edges/${index}/${end}`, message: 'is not the id of a node' }],
    ),
  );
  return [
    ...(starts === 1 ? [] : [{ path: `${root}/nodes`, message: `exactly one node must have isStart, and ${starts} do` }]),
    ...repeated(nodes, `${root}/nodes`),
    ...repeated(edges, `${root}/edges`),
    ...dangling,
    ...questionProblems(nodes, root),
    ...branchProblems(nodes, root),
  ];
}
