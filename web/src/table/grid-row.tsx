import type { VirtualItem } from '@tanstack/react-virtual';
import { memo } from 'react';
import type { Annotation } from '../annotations/writes.ts';
import { words } from '../words.ts';
import { alignOf, Cell, PLACE, type Dater } from './cell.tsx';
import type { DataColumn, Row } from './queries.ts';
import type { Selection } from './selection.ts';

export const ROW_HEIGHT = 33;

export const cellIdOf = (row: number, column: number) => `cell-${row}-${column}`;

interface GridRowProps {
  /** Index among all rows. */
  at: number;
  /** Pixels from the top of the body. */
  start: number;
  width: number;
  /** Undefined while the row is not held. */
  row: Row | undefined;
  columns: readonly DataColumn[];
  /** What names the moments of a column. */
  daters: ReadonlyMap<string, Dater>;
  /** Whether rows are groups, whose numbers are computed. */
  isComputed: boolean;
  /** The columns in sight. */
  shown: readonly VirtualItem[];
  isChosen: boolean;
  /** The active column; null in every row but one. */
  active: number | null;
  toggle: Selection['toggle'] | undefined;
  onActive: (at: { row: number; column?: number }) => void;
  onOpen: ((row: Row) => void) | undefined;
}

/** What people said of a row, by its kinds; null where nobody said anything. */
function nameSaid(annotations: unknown): string | null {
  if (!Array.isArray(annotations) || annotations.length === 0) return null;
  const { comment, flagsByName } = words.annotations;
  const kinds = (annotations as Annotation[]).map(({ content: { flagType } }) =>
    flagType === null ? comment : (flagsByName[flagType] ?? flagType),
  );
  return [...new Set(kinds)].join(', ');
}

/** A row of a grid. It is drawn anew when something of it changes, not whenever the grid is scrolled by a row. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { at, start, width, row, columns, daters, isComputed, shown, isChosen, active, toggle, onActive, onOpen } = props;
  const place = { transform: `translateY(${start}px)`, height: ROW_HEIGHT, width };
  if (row === undefined)
    return (
      <div role="row" aria-rowindex={at + 2} className="grid-row" style={place}>
        <div role="gridcell" aria-colindex={1} className="grid-cell grid-waiting">
          {words.waiting}
        </div>
      </div>
    );
  const before = toggle === undefined ? 0 : 1;
  const said = nameSaid(row['annotations']);
  return (
    <div
      role="row"
      aria-rowindex={at + 2}
      aria-selected={toggle === undefined ? undefined : isChosen}
      className={`grid-row ${active === null ? '' : 'active'} ${said === null ? '' : 'annotated'}`}
      style={place}
    >
      {toggle === undefined ? null : (
        <div role="gridcell" aria-colindex={1} className="grid-choice">
          <label>
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={words.table.choice.row(String(at + 1))}
              checked={isChosen}
              onChange={({ nativeEvent }) => {
                onActive({ row: at });
                toggle(at, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey);
              }}
            />
          </label>
        </div>
      )}
      {shown.map(({ index, start: left, size }) => {
        const column = columns[index];
        if (column === undefined) return null;
        return (
          <div
            key={column.name}
            id={cellIdOf(at, index)}
            role="gridcell"
            aria-colindex={index + 1 + before}
            className={`grid-cell ${alignOf(column.type_name)} ${index === active ? 'focused' : ''}`}
            style={{ transform: `translateX(${left}px)`, width: size }}
            onClick={() => onActive({ row: at, column: index })}
            onDoubleClick={() => onOpen?.(row)}
          >
            <Cell
              value={column.name === 'annotations' && said !== null ? said : row[column.name]}
              type={column.type_name}
              dateOf={daters.get(column.name)}
              isComputed={isComputed && !PLACE.test(column.name)}
            />
          </div>
        );
      })}
    </div>
  );
});
