import { words } from '../words.ts';
import type { Chosen } from './chosen.ts';
import type { PreviewedColumn } from './queries.ts';

const said = words.upload.preview;

interface TakeInProps {
  name: string;
  isTaken: boolean;
  isDisabled: boolean;
  take: (isTaken: boolean) => void;
}

/** Whether a column is stored. */
export const TakeIn = ({ name, isTaken, isDisabled, take }: TakeInProps) => (
  <input
    type="checkbox"
    aria-label={said.takeIn(name)}
    checked={isTaken}
    disabled={isDisabled}
    onChange={(event) => take(event.target.checked)}
  />
);

interface Row {
  name: string;
  isTaken: boolean;
  /** Undefined where the column is left out, or is not looked at yet. */
  column?: PreviewedColumn;
}

/** The rows of a preview; a column that is left out stays in its place. */
export function placeColumns(columns: readonly PreviewedColumn[], leaveOut: Chosen['leaveOut']): Row[] {
  const left = new Set(leaveOut.flatMap(({ column, isTaken }) => (isTaken ? [] : [column])));
  const rows = columns.flatMap((column): Row[] => (left.has(column.name) ? [] : [{ name: column.name, isTaken: true, column }]));
  const there = new Set(rows.map(({ name }) => name));
  for (const { column: name, at, isTaken } of leaveOut.toSorted((a, b) => a.at - b.at))
    if (!there.has(name)) rows.splice(at, 0, { name, isTaken });
  return rows;
}

/** What is said of a column that is left out, or is not looked at yet. */
export const LeftCells = ({ name, isTaken }: Row) => (
  <>
    <th scope="row">{name}</th>
    <td colSpan={4} className="quiet">
      {isTaken ? words.waiting : said.leftOut}
    </td>
  </>
);
