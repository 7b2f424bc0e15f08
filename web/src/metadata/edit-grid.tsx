import { useState } from 'react';
import { countText } from '../shell/format.ts';
import { Options } from '../ui/options.tsx';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { MOST_COLUMNS } from './delimited.ts';
import { addColumn, addRow, changeCell, changeColumn, COLUMN_NAME, isUnfit, takeColumn, textOf, valueOf } from './draft.ts';
import type { ColumnType, Metadata } from './draft.ts';
import { ROWS_SHOWN, Turn } from './turn.tsx';

const said = words.metadata;

interface EditGridProps {
  metadata: Metadata;
  label: string;
  change: (next: Metadata) => void;
}

/** The columns and cells of a metadata table, to be written in. */
export function EditGrid({ metadata, label, change }: EditGridProps) {
  const { columns, rows, identifierColumnId } = metadata;
  const [from, setFrom] = useState(0);
  const begin = Math.min(from, Math.floor(Math.max(rows.length - 1, 0) / ROWS_SHOWN) * ROWS_SHOWN);
  const lengthen = () => {
    setFrom(Math.floor(rows.length / ROWS_SHOWN) * ROWS_SHOWN);
    change(addRow(metadata));
  };
  return (
    <>
      <div className="metadata-scroll" role="region" aria-label={label} tabIndex={0}>
        <table className="metadata-table edited">
          <thead>
            <tr>
              <th scope="col" className="small quiet">
                {said.form.rowHead}
              </th>
              {columns.map((column, place) => (
                <th key={column.id} scope="col">
                  <input
                    className="input"
                    aria-label={said.form.columnName(place + 1)}
                    required
                    maxLength={64}
                    pattern={COLUMN_NAME}
                    value={column.name}
                    onChange={({ target }) => change(changeColumn(metadata, column, { name: target.value }))}
                  />
                  <span className="metadata-column">
                    <select
                      className="input"
                      aria-label={said.form.columnType(column.name)}
                      value={column.type}
                      onChange={({ target }) => change(changeColumn(metadata, column, { type: target.value as ColumnType }))}
                    >
                      <Options texts={Object.entries(said.types)} />
                    </select>
                    {column.id === identifierColumnId ? null : (
                      <TakeButton aria-label={said.form.takeColumn(column.name)} onClick={() => change(takeColumn(metadata, column))}>
                        ×
                      </TakeButton>
                    )}
                  </span>
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {rows.slice(begin, begin + ROWS_SHOWN).map((row, step) => {
              const at = begin + step;
              const number = countText(at + 1);
              return (
                // ids of rows may repeat
                <tr key={at}>
                  <th scope="row" className="small quiet number">
                    {number}
                  </th>
                  {columns.map((column) => {
                    const text = textOf(valueOf(row, column));
                    return (
                      <td key={column.id}>
                        <input
                          className="input"
                          aria-label={said.form.cell(column.name, number)}
                          aria-invalid={isUnfit(text, column.type)}
                          value={text}
                          onChange={({ target }) => change(changeCell(metadata, at, column, target.value))}
                        />
                      </td>
                    );
                  })}
                  <td>
                    <TakeButton
                      aria-label={said.form.takeRow(number)}
                      onClick={() => change({ ...metadata, rows: rows.filter((_, place) => place !== at) })}
                    >
                      ×
                    </TakeButton>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <Turn from={begin} all={rows.length} turn={setFrom} />
      <div className="inline">
        <button type="button" className="button" onClick={lengthen}>
          {said.form.addRow}
        </button>
        <button
          type="button"
          className="button"
          disabled={columns.length >= MOST_COLUMNS}
          onClick={() => change(addColumn(metadata, said.form.newColumn(columns.length + 1)))}
        >
          {said.form.addColumn}
        </button>
      </div>
    </>
  );
}
