import type { FlowEdge, FlowGraph, FlowNode } from '../flow/flow.model.ts';
import type { Cell } from './cells.ts';

const LABEL = 64;

/** Cuts a text to its first `LABEL` characters or fewer, so that no character is cut in two. */
function cut(text: string): string {
  let label = '';
  for (const character of text) {
    if (label.length + character.length > LABEL) break;
    label += character;
  }
  return label;
}

const named = (name: string | undefined, otherwise: string) => cut(name?.trim() ?? '') || otherwise;

/** Makes the step that a cell becomes in the field; undefined for a cell that only shows on the page. */
function stepOf(cell: Cell): Pick<FlowNode, 'type' | 'name' | 'content'> | undefined {
  switch (cell.type) {
    case 'protocol':
      return {
        type: 'measurement',
        name: named(cell.payload.name, `Protocol ${cell.payload.protocolId.slice(0, 8)}`),
        content: { protocolId: cell.payload.protocolId },
      };
    case 'command': {
      const { format, content, name } = cell.payload;
      return { type: 'measurement', name: named(name, 'Command'), content: { command: { format, content } } };
    }
    case 'macro':
      return {
        type: 'analysis',
        name: named(cell.payload.name, `Macro ${cell.payload.macroId.slice(0, 8)}`),
        content: { macroId: cell.payload.macroId },
      };
    case 'question':
      return { type: 'question', name: cell.name, content: { ...cell.question } };
    case 'markdown':
      return cell.content.trim() === ''
        ? undefined
        : { type: 'instruction', name: cut(cell.content.trim()), content: { text: cell.content.slice(0, 100_000) } };
    case 'branch':
      return {
        type: 'branch',
        name: 'Branch',
        content: {
          paths: cell.paths.map(({ id, label, color }) => ({ id, label, color })),
          ...(cell.defaultPathId !== undefined && cell.paths.some(({ id }) => id === cell.defaultPathId)
            ? { defaultPathId: cell.defaultPathId }
            : {}),
        },
      };
    case 'output':
      return undefined;
  }
}

/**
 * Makes the flow that a person walks through, from the cells of a workbook. The first step is the start, and each step leads to the next. A branch path with a
 * target leads to the target, or to the first step after a target that is no step. Null when no cell is a step.
 */
export function makeFlow(cells: readonly Cell[]): FlowGraph | null {
  const steps = cells.map((cell) => ({ cell, step: stepOf(cell) }));
  const emitted = steps.flatMap(({ cell, step }) => (step ? [{ cell, step }] : []));
  if (emitted.length === 0) return null;
  const middle = (emitted.length - 1) / 2;
  const nodes = emitted.map(({ cell, step }, index): FlowNode => ({
    id: cell.id,
    ...step,
    isStart: index === 0,
    position: { x: (index - middle) * 250, y: 240 },
  }));
  // the first step from each cell on; looked for anew, the targets of 35,000 paths took seconds
  const stepsFrom = new Map<string, string>();
  steps.reduceRight<string | undefined>((later, { cell, step }) => {
    const first = step ? cell.id : later;
    if (first !== undefined) stepsFrom.set(cell.id, first);
    return first;
  }, undefined);
  const edges = new Map<string, FlowEdge>();
  emitted.forEach(({ cell }, index) => {
    const next = emitted[index + 1]?.cell.id;
    if (next !== undefined) edges.set(`e-${cell.id}-${next}`, { id: `e-${cell.id}-${next}`, source: cell.id, target: next });
    if (cell.type !== 'branch') return;
    for (const path of cell.paths) {
      const target = stepsFrom.get(path.gotoCellId ?? '');
      if (target === undefined) continue;
      const id = `e-${cell.id}-${path.id}-${target}`;
      edges.set(id, { id, source: cell.id, target, label: path.label, sourceHandle: path.id.slice(0, LABEL) });
    }
  });
  return { nodes, edges: [...edges.values()] };
}
