import type { MacroLanguage } from '../library/kinds.ts';
import type { Cell, CellType } from './queries.ts';

export type CellOf<Type extends CellType> = Extract<Cell, { type: Type }>;

/** Types of cells that a person adds; outputs are left by a run. */
export const ADDED: readonly CellType[] = ['markdown', 'question', 'protocol', 'macro', 'command', 'branch'];

/** An id that no cell has yet. */
function freeId(type: CellType, cells: readonly Cell[]): string {
  let number = cells.length + 1;
  while (cells.some(({ id }) => id === `${type}-${number}`)) number += 1;
  return `${type}-${number}`;
}

interface Named {
  id: string;
  name: string;
  /** Language of a macro; family of a protocol. */
  trait: string;
}

/** What a macro's cell says of the macro. */
export const macroPayload = ({ id, name, trait }: Named): CellOf<'macro'>['payload'] => ({
  macroId: id,
  language: trait as MacroLanguage,
  name,
});

/** What a protocol's cell says of the protocol. */
export const protocolPayload = ({ id, name }: Named): CellOf<'protocol'>['payload'] => ({ protocolId: id, version: 1, name });

/** What a new branch looks at: the answer to the last question before it. */
function conditionsOn(cells: readonly Cell[], id: string): CellOf<'branch'>['paths'][number]['conditions'] {
  const question = cells.findLast((cell) => cell.type === 'question');
  return question === undefined
    ? []
    : [{ id: `${id}-condition`, sourceCellId: question.id, field: 'answer', operator: 'eq', value: 'yes' }];
}

/** A new cell with enough in it to be stored; null where there is nothing that it could name. */
export function makeCell(type: CellType, cells: readonly Cell[], protocol: Named | undefined, macro: Named | undefined): Cell | null {
  const common = { id: freeId(type, cells), isCollapsed: false };
  switch (type) {
    case 'markdown':
      return { ...common, type, content: '' };
    case 'question':
      return {
        ...common,
        type,
        name: `Question ${cells.length + 1}`,
        question: { kind: 'open_ended', text: '', required: false },
        isAnswered: false,
      };
    case 'protocol':
      return protocol === undefined ? null : { ...common, type, payload: protocolPayload(protocol) };
    case 'macro':
      return macro === undefined ? null : { ...common, type, payload: macroPayload(macro) };
    case 'command':
      return { ...common, type, payload: { format: 'string', content: 'hello' } };
    case 'branch':
      return {
        ...common,
        type,
        paths: [
          { id: `${common.id}-path`, label: 'If so', color: '#1d6a45', conditions: conditionsOn(cells, common.id) },
          { id: `${common.id}-otherwise`, label: 'Otherwise', color: '#8a5a00', conditions: [] },
        ],
        defaultPathId: `${common.id}-otherwise`,
      };
    case 'output':
      return null;
  }
}
