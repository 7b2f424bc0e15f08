/** What a cell or a heading gives to a spreadsheet: nothing for what is missing, every digit of a number, and one line. */
function textOf(cell: Element): string {
  if (cell.querySelector('.cell-null') !== null) return '';
  const exact = cell.querySelector('data')?.value;
  if (exact !== undefined) return exact;
  return (cell.querySelector('.grid-name') ?? cell).textContent.replaceAll(/[\t\r\n]+/g, ' ');
}

/** Every digit of a rounded number that is marked whole. */
function findExact(grid: Element, selection: Selection): string | null {
  const marked = selection.toString().trim();
  const numbers = Array.from(grid.querySelectorAll('data')).filter((number) => selection.containsNode(number, true));
  return numbers.find(({ textContent }) => textContent === marked)?.value ?? null;
}

/** Text of the cells of a grid that are marked, as a spreadsheet takes it; null where it is no more than one, which is copied as it is marked. */
export function findMarked(grid: Element, selection: Selection): string | null {
  const rows = Array.from(grid.querySelectorAll('[role=row]'), (row) =>
    Array.from(row.querySelectorAll('.grid-column, .grid-cell'), (cell) => (selection.containsNode(cell, true) ? textOf(cell) : null)),
  ).filter((cells) => cells.some((cell) => cell !== null));
  const columns = rows.flatMap((cells) => cells.flatMap((cell, at) => (cell === null ? [] : [at])));
  if (columns.length < 2) return findExact(grid, selection);
  const [first, last] = [Math.min(...columns), Math.max(...columns)];
  return rows.map((cells) => cells.slice(first, last + 1).join('\t')).join('\n');
}
