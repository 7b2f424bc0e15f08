import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react';
import { nameType } from '../experiments/columns.ts';
import { words } from '../words.ts';
import { alignOf, type Dater } from './cell.tsx';
import { findMarked } from './copied.ts';
import { cellIdOf, GridRow, ROW_HEIGHT } from './grid-row.tsx';
import { useKeptPlace } from './place.ts';
import type { DataColumn, Row } from './queries.ts';
import type { Selection } from './selection.ts';
import { useWidths } from './widths.ts';

const HEAD_HEIGHT = 56;
/** Room for a second line of names that one line does not hold. */
const TALL_HEAD_HEIGHT = 78;
const LINE_LETTERS = 26;
const CHOICE_WIDTH = 44;
const OVERSCAN = 12;

export interface Order {
  column: string;
  direction: 'ASC' | 'DESC';
}

interface GridProps {
  name: string;
  columns: readonly DataColumn[];
  /** What names the moments of a column, where they are not written as they are. */
  daters: ReadonlyMap<string, Dater>;
  /** Whether rows are groups, whose numbers are computed. */
  isComputed: boolean;
  /** The rows that are held. */
  rows: readonly Row[];
  /** Index of the first of them. */
  begin: number;
  /** Rows that can be scrolled to, held or not. */
  count: number;
  total: number;
  order: Order | null;
  isLoading: boolean;
  /** Whether the rows are those of the question before. */
  isStale: boolean;
  onSort: (column: string) => void;
  /** Opens a row's details; undefined where rows are groups. */
  onOpen: ((row: Row) => void) | undefined;
  /** Which rows are chosen; undefined where none can be. */
  selection: Selection | undefined;
  onRange: (first: number, last: number) => void;
}

/** The indexes to draw, always with the active one, so that the focus never loses its row. */
const withActive = (active: number) => (range: Range) => {
  const drawn = defaultRangeExtractor(range);
  return drawn.includes(active) || active === HEAD || active >= range.count ? drawn : [...drawn, active].sort((a, b) => a - b);
};

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [20, 0],
  PageUp: [-20, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};
const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** The names of the columns, as the row above the first. */
const HEAD = -1;

/**
 * A grid of any number of rows and columns, of which only those in sight are drawn. The grid itself has the focus and names its active cell, so that scrolling
 * never takes the focus away. Row and column numbers are those of the whole.
 */
export function Grid(props: GridProps) {
  const { name, columns, daters, isComputed, rows, begin, count, total, order, isLoading, isStale, onSort, onOpen, selection, onRange } =
    props;
  const choiceWidth = selection === undefined ? 0 : CHOICE_WIDTH;
  /** Number of columns before those of the table. */
  const before = selection === undefined ? 0 : 1;
  const headHeight = columns.some((column) => column.name.length > LINE_LETTERS) ? TALL_HEAD_HEIGHT : HEAD_HEIGHT;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const activate = useCallback(
    ({ row, column }: { row: number; column?: number }) => setActive((before) => ({ row, column: column ?? before.column })),
    [],
  );
  // the same function as long as it answers the same: with each new one, the rows and columns in sight are worked out anew
  const rowsToDraw = useMemo(() => withActive(active.row), [active.row]);
  const columnsToDraw = useMemo(() => withActive(active.column), [active.column]);
  const rowWindow = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollPaddingStart: headHeight,
    rangeExtractor: rowsToDraw,
  });
  const { widths, fit } = useWidths(columns, rows);
  const columnWindow = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => widths[index] ?? 0,
    overscan: 3,
    paddingStart: choiceWidth,
    scrollPaddingStart: choiceWidth,
    rangeExtractor: columnsToDraw,
  });
  fit((columnWindow.scrollRect?.width ?? 0) - choiceWidth);
  const { measure } = columnWindow;
  useLayoutEffect(measure, [measure, widths]);
  const rowsDrawn = rowWindow.getVirtualItems();
  const first = rowWindow.range?.startIndex ?? 0;
  const last = rowWindow.range?.endIndex ?? 0;
  useEffect(() => onRange(first, last), [first, last, onRange]);

  const follow = useCallback(
    (moved: number) => setActive((at) => (at.row === HEAD ? at : { ...at, row: Math.max(0, at.row + moved) })),
    [],
  );
  useKeptPlace({ rows, begin, first, rowHeight: ROW_HEIGHT, scroller, onMoved: follow });

  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const [down, right] = event.ctrlKey ? [event.key === 'Home' ? -Infinity : Infinity, 0] : step;
      const least = active.row === HEAD || (event.key === 'ArrowUp' && active.row === 0) ? HEAD : 0;
      const next = { row: clamp(active.row + down, least, count - 1), column: clamp(active.column + right, 0, columns.length - 1) };
      setActive(next);
      if (event.shiftKey && next.row !== active.row && least === 0) selection?.add(active.row, next.row);
      rowWindow.scrollToIndex(Math.max(0, next.row));
      columnWindow.scrollToIndex(next.column);
    } else if (event.key === 'Escape') selection?.clear();
    else if (active.row === HEAD && (event.key === 'Enter' || event.key === ' ')) {
      const column = columns[active.column];
      event.preventDefault();
      if (column !== undefined) onSort(column.name);
    } else if (event.key === ' ' && selection !== undefined) {
      event.preventDefault();
      selection.toggle(active.row, event.shiftKey);
    } else if (event.key === 'Enter' || event.key === ' ') {
      const row = rows[active.row - begin];
      if (row !== undefined && onOpen !== undefined) {
        event.preventDefault();
        onOpen(row);
      }
    }
  };

  /** Gives cells as a spreadsheet takes them: the browser would join the values of a row. */
  const copy = (event: ClipboardEvent<HTMLElement>) => {
    const selection = document.getSelection();
    const text = selection === null ? null : findMarked(event.currentTarget, selection);
    if (text === null) return;
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  };

  const shown = columnWindow.getVirtualItems();
  const width = columnWindow.getTotalSize();
  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      tabIndex={0}
      aria-label={name}
      aria-rowcount={total + 1}
      aria-colcount={columns.length + before}
      aria-multiselectable={selection !== undefined}
      aria-busy={isLoading || isStale}
      aria-activedescendant={
        active.row !== HEAD && rows[active.row - begin] === undefined ? undefined : cellIdOf(active.row, active.column)
      }
      onKeyDown={move}
      onCopy={copy}
    >
      <div role="rowgroup" className="grid-head" style={{ width, height: headHeight }}>
        <div role="row" aria-rowindex={1}>
          {selection === undefined ? null : (
            <div role="columnheader" aria-colindex={1} className="grid-choice">
              <span className="hidden-visually">{words.table.choice.column}</span>
            </div>
          )}
          {shown.map(({ index, start, size }) => {
            const column = columns[index];
            if (column === undefined) return null;
            const sorted = order?.column === column.name ? order.direction : 'none';
            return (
              <div
                key={column.name}
                id={cellIdOf(HEAD, index)}
                role="columnheader"
                aria-colindex={index + 1 + before}
                aria-sort={({ ASC: 'ascending', DESC: 'descending', none: 'none' } as const)[sorted]}
                className={`grid-column ${alignOf(column.type_name)} ${active.row === HEAD && index === active.column ? 'focused' : ''}`}
                style={{ transform: `translateX(${start}px)`, width: size }}
              >
                <button type="button" tabIndex={-1} title={words.table.sortBy(column.name)} onClick={() => onSort(column.name)}>
                  <span className="grid-title">
                    <span className="grid-name">{column.name}</span>
                    <span aria-hidden="true">{{ ASC: '↑', DESC: '↓', none: '' }[sorted]}</span>
                  </span>
                  <span className="grid-type" title={column.type_text.toLowerCase()}>
                    {nameType(column.type_text).replace(/,.*/, '')}
                    {column.type_name === 'TIMESTAMP' && !daters.has(column.name) ? words.table.inUtc : ''}
                  </span>
                </button>
              </div>
            );
          })}
        </div>
      </div>
      <div role="rowgroup" className={isStale ? 'grid-body stale' : 'grid-body'} style={{ width, height: rowWindow.getTotalSize() }}>
        {rowsDrawn.map(({ index: at, start }) => {
          const row = rows[at - begin];
          return (
            <GridRow
              key={at}
              at={at}
              start={start}
              width={width}
              row={row}
              columns={columns}
              daters={daters}
              isComputed={isComputed}
              shown={shown}
              isChosen={row !== undefined && selection?.chosen.has(String(row['id'])) === true}
              active={at === active.row ? active.column : null}
              toggle={selection?.toggle}
              onActive={activate}
              onOpen={onOpen}
            />
          );
        })}
      </div>
    </div>
  );
}
