import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { words } from '../words.ts';
import { alignOf, Cell, widthOf } from './cell.tsx';
import { useKeptPlace } from './place.ts';
import type { DataColumn, Row } from './queries.ts';
import type { Selection } from './selection.ts';

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, Row>();

const ROW_HEIGHT = 33;
const HEAD_HEIGHT = 56;
const CHOICE_WIDTH = 44;
const OVERSCAN = 12;

interface GridProps {
  name: string;
  columns: readonly DataColumn[];
  /** The rows that are held. */
  rows: readonly Row[];
  /** Index of the first of them. */
  begin: number;
  /** Rows that can be scrolled to, held or not. */
  count: number;
  total: number;
  order: { column: string; direction: 'ASC' | 'DESC' } | null;
  isLoading: boolean;
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
  return drawn.includes(active) || active >= range.count ? drawn : [...drawn, active].sort((a, b) => a - b);
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
const clamp = (value: number, most: number) => Math.max(0, Math.min(most, value));

/**
 * A grid of any number of rows and columns, of which only those in sight are drawn. The grid itself has the focus and names its active cell, so
 * that scrolling takes the focus from nobody; row and column numbers are those of the whole.
 */
export function Grid(props: GridProps) {
  const { name, columns, rows, begin, count, total, order, isLoading, onSort, onOpen, selection, onRange } = props;
  const choiceWidth = selection === undefined ? 0 : CHOICE_WIDTH;
  /** Columns before those of the rows. */
  const before = selection === undefined ? 0 : 1;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const defined = useMemo(
    () => helper.columns(columns.map(({ name: id }) => helper.accessor((row) => row[id], { id, header: id }))),
    [columns],
  );
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({ features, columns: defined, data });
  const drawn = table.getRowModel().rows;
  const rowWindow = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD_HEIGHT,
    rangeExtractor: withActive(active.row),
  });
  const columnWindow = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => widthOf(columns[index]?.type_name ?? ''),
    overscan: 3,
    paddingStart: choiceWidth,
    scrollPaddingStart: choiceWidth,
    rangeExtractor: withActive(active.column),
  });
  const rowsDrawn = rowWindow.getVirtualItems();
  const first = rowWindow.range?.startIndex ?? 0;
  const last = rowWindow.range?.endIndex ?? 0;
  useEffect(() => onRange(first, last), [first, last, onRange]);

  const follow = useCallback((moved: number) => setActive(({ row, column }) => ({ row: Math.max(0, row + moved), column })), []);
  useKeptPlace({ rows, begin, first, rowHeight: ROW_HEIGHT, scroller, onMoved: follow });

  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const [down, right] = event.ctrlKey ? [event.key === 'Home' ? -Infinity : Infinity, 0] : step;
      const next = { row: clamp(active.row + down, count - 1), column: clamp(active.column + right, columns.length - 1) };
      setActive(next);
      if (event.shiftKey && next.row !== active.row) selection?.add(active.row, next.row);
      rowWindow.scrollToIndex(next.row);
      columnWindow.scrollToIndex(next.column);
    } else if (event.key === 'Escape') selection?.clear();
    else if (event.key === ' ' && selection !== undefined) {
      event.preventDefault();
      selection.toggle(active.row, event.shiftKey);
    } else if (event.key === 'Enter' || event.key === ' ') {
      const row = drawn[active.row - begin]?.original;
      if (row !== undefined && onOpen !== undefined) {
        event.preventDefault();
        onOpen(row);
      }
    }
  };

  const shown = columnWindow.getVirtualItems();
  const width = columnWindow.getTotalSize();
  const cellId = (row: number, column: number) => `cell-${row}-${column}`;
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
      aria-busy={isLoading}
      aria-activedescendant={drawn[active.row - begin] === undefined ? undefined : cellId(active.row, active.column)}
      onKeyDown={move}
    >
      <div role="rowgroup" className="grid-head" style={{ width, height: HEAD_HEIGHT }}>
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
                role="columnheader"
                aria-colindex={index + 1 + before}
                aria-sort={({ ASC: 'ascending', DESC: 'descending', none: 'none' } as const)[sorted]}
                className={`grid-column ${alignOf(column.type_name)}`}
                style={{ transform: `translateX(${start}px)`, width: size }}
              >
                <button type="button" tabIndex={-1} title={words.table.sortBy(column.name)} onClick={() => onSort(column.name)}>
                  <span className="grid-name">
                    {column.name}
                    <span aria-hidden="true">{{ ASC: ' ↑', DESC: ' ↓', none: '' }[sorted]}</span>
                  </span>
                  <span className="grid-type">{column.type_text.toLowerCase()}</span>
                </button>
              </div>
            );
          })}
        </div>
      </div>
      <div role="rowgroup" className="grid-body" style={{ width, height: rowWindow.getTotalSize() }}>
        {rowsDrawn.map(({ index: at, start }) => {
          const row = drawn[at - begin];
          const place = { transform: `translateY(${start}px)`, height: ROW_HEIGHT, width };
          if (row === undefined)
            return (
              <div key={at} role="row" aria-rowindex={at + 2} className="grid-row" style={place}>
                <div role="gridcell" aria-colindex={1} className="grid-cell grid-waiting">
                  {words.waiting}
                </div>
              </div>
            );
          const cells = row.getAllCells();
          const isChosen = selection?.chosen.has(String(row.original['id']));
          return (
            <div
              key={at}
              role="row"
              aria-rowindex={at + 2}
              aria-selected={isChosen}
              className={`grid-row ${at === active.row ? 'active' : ''}`}
              style={place}
            >
              {selection === undefined ? null : (
                <div role="gridcell" aria-colindex={1} className="grid-choice">
                  <label>
                    <input
                      type="checkbox"
                      tabIndex={-1}
                      aria-label={words.table.choice.row(String(at + 1))}
                      checked={isChosen}
                      onChange={({ nativeEvent }) => {
                        setActive({ ...active, row: at });
                        selection.toggle(at, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey);
                      }}
                    />
                  </label>
                </div>
              )}
              {shown.map(({ index, start: left, size }) => {
                const column = columns[index];
                return (
                  <div
                    key={column?.name ?? index}
                    id={cellId(at, index)}
                    role="gridcell"
                    aria-colindex={index + 1 + before}
                    className={`grid-cell ${alignOf(column?.type_name ?? '')} ${at === active.row && index === active.column ? 'focused' : ''}`}
                    style={{ transform: `translateX(${left}px)`, width: size }}
                    onClick={() => setActive({ row: at, column: index })}
                    onDoubleClick={() => onOpen?.(row.original)}
                  >
                    <Cell value={cells[index]?.getValue()} type={column?.type_name ?? ''} />
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
    </div>
  );
}
