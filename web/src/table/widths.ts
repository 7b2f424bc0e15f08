import { useMemo, useState } from 'react';
import { textOf, widthOf } from './cell.tsx';
import type { DataColumn, Row } from './queries.ts';

const LETTER = 8.5;
const PADDING = 24;
const MOST = 640;
/** Room for the bar by which rows are scrolled. */
const BAR = 18;

const wantedBy = ({ name, type_name: type }: DataColumn, rows: readonly Row[]) =>
  type === 'STRING' ? Math.min(MOST, PADDING + LETTER * Math.max(...rows.map((row) => textOf(row[name])?.length ?? 0))) : 0;

/** Gives the room that is left beside the columns to the texts that would be cut, each at most what it wants. */
function share(columns: readonly DataColumn[], rows: readonly Row[], room: number): number[] {
  const widths = columns.map(widthOf);
  let left = room - BAR - widths.reduce((sum, width) => sum + width, 0);
  return columns.map((column, at) => {
    const width = widths[at] ?? 0;
    const more = Math.max(0, Math.min(left, wantedBy(column, rows) - width));
    left -= more;
    return width + more;
  });
}

/** How wide each column is, and what decides it by the room there is. The first rows decide, so that nothing moves when others come. */
export function useWidths(columns: readonly DataColumn[], rows: readonly Row[]) {
  const key = JSON.stringify(columns.map(({ name }) => name));
  const [shared, setShared] = useState<{ key: string; widths: readonly number[] } | null>(null);
  const usual = useMemo(() => columns.map(widthOf), [columns]);
  const isDecided = shared?.key === key;
  return {
    widths: isDecided ? shared.widths : usual,
    fit: (room: number) => {
      if (!isDecided && rows.length > 0 && room > 0) setShared({ key, widths: share(columns, rows, room) });
    },
  };
}
