import { canonicaliseQuestion, isReservedColumn } from '../flow/flow.service.ts';
import { listUses, type Cell } from './cells.ts';
import type { WorkbookProblem } from './workbooks.model.ts';
import type { UsedEntity } from './workbooks.queries.ts';

/** Bytes of code that a version keeps at most: 55 protocols of 1.8 MB held everybody up for 14 s. */
export const MOST_CODE = 5_000_000;

type Found = Omit<WorkbookProblem, 'cellId'>;
const error = (code: WorkbookProblem['code'], message: string): Found => ({ code, severity: 'error', message });
const warning = (code: WorkbookProblem['code'], message: string): Found => ({ code, severity: 'warning', message });

function referenceProblems(type: 'protocol' | 'macro', id: string, used: ReadonlyMap<string, UsedEntity>): Found[] {
  const thing = used.get(id);
  if (thing?.type !== type) return [error(`missing-${type}`, `There is no ${type} ${id}.`)];
  return thing.isReadable ? [] : [error(`unreadable-${type}`, `You may not read ${type} ${id}, so you cannot publish this workbook.`)];
}

function branchProblems(cell: Extract<Cell, { type: 'branch' }>, position: number, known: ReadonlyMap<string, number>): Found[] {
  const sources = cell.paths.flatMap(({ conditions }) => conditions.map(({ sourceCellId }) => sourceCellId));
  const targets = cell.paths.flatMap(({ gotoCellId }) => (gotoCellId === undefined ? [] : [gotoCellId]));
  const unknownDefault = cell.defaultPathId !== undefined && !cell.paths.some(({ id }) => id === cell.defaultPathId);
  return [
    ...[...new Set(sources)]
      .filter((id) => id !== '$device' && (known.get(id) ?? Infinity) >= position)
      .map((id) => error('dangling-branch-source', `A condition reads cell '${id}', which is not before this cell.`)),
    ...[...new Set(targets)]
      .filter((id) => !known.has(id))
      .map((id) => error('dangling-branch-goto', `A path leads to cell '${id}', which is not there.`)),
    ...(unknownDefault ? [error('dangling-branch-default', 'The default path is not one of the paths.')] : []),
  ];
}

interface Around {
  cells: readonly Cell[];
  /** The place of each cell. */
  known: ReadonlyMap<string, number>;
  used: ReadonlyMap<string, UsedEntity>;
}

function cellProblemsOf(cell: Cell, position: number, { cells, known, used }: Around): Found[] {
  switch (cell.type) {
    case 'protocol':
      return referenceProblems('protocol', cell.payload.protocolId, used);
    case 'macro': {
      const thing = used.get(cell.payload.macroId);
      const producers = cells.slice(0, position).some(({ type }) => ['protocol', 'command', 'question', 'macro'].includes(type));
      return [
        ...referenceProblems('macro', cell.payload.macroId, used),
        ...(thing?.type === 'macro' && thing.kind !== cell.payload.language
          ? [warning('macro-language-changed', `The macro is written in ${thing.kind}, not in ${cell.payload.language}.`)]
          : []),
        ...(producers ? [] : [warning('macro-without-input', 'Nothing before this cell gives the macro an input.')]),
      ];
    }
    case 'question': {
      const column = canonicaliseQuestion(cell.name);
      return isReservedColumn(column) ? [error('reserved-name', `'${column}' is a column that every measurement has.`)] : [];
    }
    case 'branch':
      return branchProblems(cell, position, known);
    case 'command':
    case 'markdown':
    case 'output':
      return [];
  }
}

/** Finds the cell from which on the code is more than a version keeps, of what one may read; undefined where a version keeps all of it. */
function findHeavy(cells: readonly Cell[], used: ReadonlyMap<string, UsedEntity>): Cell | undefined {
  let bytes = 0;
  const heavy = listUses(cells).find(({ id }) => {
    const thing = used.get(id);
    bytes += thing?.isReadable ? thing.size : 0;
    return bytes > MOST_CODE;
  });
  return heavy && cells.find((cell) => listUses([cell])[0]?.id === heavy.id);
}

/** Lists everything that would stop a workbook from working in the field, or that looks like a slip, in the order of its cells. */
export function listProblems(cells: readonly Cell[], things: readonly UsedEntity[]): WorkbookProblem[] {
  const used = new Map(things.map((thing) => [thing.id, thing]));
  const known = new Map(cells.map(({ id }, index) => [id, index]));
  const heavy = findHeavy(cells, used);
  const seen = new Set<string>();
  let family: string | undefined;
  return cells.flatMap((cell, position) => {
    const found = cellProblemsOf(cell, position, { cells, known, used });
    if (seen.has(cell.id)) found.push(error('duplicate-cell-id', 'An earlier cell has the same id.'));
    seen.add(cell.id);
    if (cell === heavy)
      found.push(error('too-much-code', `Up to this cell there is more code than the ${MOST_CODE} bytes that a version keeps.`));
    const kind = cell.type === 'protocol' ? used.get(cell.payload.protocolId)?.kind : undefined;
    if (kind !== undefined && kind !== 'generic') {
      if (family !== undefined && kind !== family)
        found.push(warning('mixed-sensor-families', `This protocol is for ${kind}, an earlier one for ${family}.`));
      family ??= kind;
    }
    return found.map((problem) => ({ ...problem, cellId: cell.id }));
  });
}
