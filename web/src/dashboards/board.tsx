import type { CSSProperties } from 'react';
import { ChartPart } from './chart-part.tsx';
import { FilterPart } from './filter-part.tsx';
import { inOrder } from './arrange.ts';
import type { BoardShown } from './part.tsx';
import type { Dashboard, Widget } from './queries.ts';
import { RichText } from './rich-text.tsx';
import { TablePart } from './table-part.tsx';
import './dashboards.css';

function Part({ widget, board }: { widget: Widget; board: BoardShown }) {
  switch (widget.type) {
    case 'visualization':
      return <ChartPart widget={widget} board={board} />;
    case 'table':
      return <TablePart widget={widget} board={board} />;
    case 'filter':
      return <FilterPart widget={widget} board={board} />;
    case 'richText':
      return (
        <div className="panel part">
          <RichText html={widget.config.html ?? ''} />
        </div>
      );
  }
}

/** The grid of a dashboard; a narrow page has its parts one below the other. */
export function Board({ layout, board }: { layout: Dashboard['layout']; board: BoardShown }) {
  const { columns, rowHeight, gap } = layout;
  const measures = { '--columns': columns, '--row': `${rowHeight}px`, '--gap': `${gap}px` } as CSSProperties;
  return (
    <div className="board" style={measures}>
      {inOrder(board.widgets).map((widget) => {
        const { col, row, colSpan, rowSpan } = widget.layout;
        const begin = Math.min(col, columns - 1);
        const place = {
          '--col': `${begin + 1} / span ${Math.min(colSpan, columns - begin)}`,
          '--rows': `${row + 1} / span ${rowSpan}`,
          '--height': rowSpan,
        } as CSSProperties;
        return (
          <div key={widget.id} className={`board-cell of-${widget.type}`} style={place}>
            <Part widget={widget} board={board} />
          </div>
        );
      })}
    </div>
  );
}
