import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { choicesQuery } from '../library/queries.ts';
import { SelectField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { StillButton } from '../ui/still-button.tsx';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { CellForm } from './cell-form.tsx';
import { ADDED, makeCell } from './cells.ts';
import type { Cell, CellType } from './queries.ts';
import './workbooks.css';

const said = words.workbooks;

function AddTool({ cells, change }: { cells: readonly Cell[]; change: (cells: Cell[]) => void }) {
  const [type, setType] = useState<CellType>('markdown');
  const protocol = useQuery(choicesQuery('protocols')).data?.items[0];
  const macro = useQuery(choicesQuery('macros')).data?.items[0];
  const made = makeCell(type, cells, protocol, macro);
  return (
    <div className="inline">
      <SelectField id="add-cell" label={said.add} value={type} onChange={(event) => setType(event.target.value as CellType)}>
        <Options texts={ADDED.map((each) => [each, said.types[each]])} />
      </SelectField>
      <button
        type="button"
        className="button"
        disabled={made === null}
        onClick={() => {
          if (made !== null) change([...cells, made]);
        }}
      >
        {said.addIt}
      </button>
    </div>
  );
}

interface CellListProps {
  cells: Cell[];
  /** What is wrong with cells, as they are stored. */
  problems: readonly { cellId: string; severity: 'error' | 'warning'; message: string }[];
  /** Undefined for whoever may not write. */
  change: ((cells: Cell[]) => void) | undefined;
}

/** The cells of a workbook, in order. */
export function CellList({ cells, problems, change }: CellListProps) {
  // a button that is moved in the page loses the focus; where the other cell is moved instead it keeps it, out of sight
  const pressed = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    pressed.current?.focus();
    pressed.current?.scrollIntoView({ block: 'nearest' });
    pressed.current = null;
  }, [cells]);
  const move = (from: number, to: number, button: HTMLElement) => {
    pressed.current = button;
    const next = cells.slice();
    const [moved] = next.splice(from, 1);
    if (moved !== undefined) next.splice(to, 0, moved);
    change?.(next);
  };
  return (
    <div className="stack">
      {cells.length === 0 ? <p className="quiet">{said.none}</p> : null}
      <ol className="cells">
        {cells.map((cell, index) => {
          const position = index + 1;
          return (
            <li key={cell.id}>
              <section className="panel" aria-label={said.cell(position, said.types[cell.type])}>
                <header>
                  <h3>
                    {position}. {said.types[cell.type]}
                  </h3>
                  {change === undefined ? null : (
                    <div className="cell-tools">
                      <StillButton
                        className="button bare"
                        aria-label={said.up(position)}
                        isStill={index === 0}
                        onClick={({ currentTarget }) => move(index, index - 1, currentTarget)}
                      >
                        ↑
                      </StillButton>
                      <StillButton
                        className="button bare"
                        aria-label={said.down(position)}
                        isStill={position === cells.length}
                        onClick={({ currentTarget }) => move(index, index + 1, currentTarget)}
                      >
                        ↓
                      </StillButton>
                      <TakeButton aria-label={said.remove(position)} onClick={() => change(cells.filter((_, at) => at !== index))}>
                        ×
                      </TakeButton>
                    </div>
                  )}
                </header>
                <CellForm
                  cell={cell}
                  position={position}
                  before={cells.slice(0, index)}
                  change={change === undefined ? undefined : (next) => change(cells.map((each, at) => (at === index ? next : each)))}
                />
                {problems
                  .filter(({ cellId }) => cellId === cell.id)
                  .map(({ severity, message }) => (
                    <p key={message} className="small">
                      <span className="tag warn">{said.severities[severity]}</span> {message}
                    </p>
                  ))}
              </section>
            </li>
          );
        })}
      </ol>
      {change === undefined ? null : <AddTool cells={cells} change={change} />}
    </div>
  );
}
