import { useState } from 'react';
import { words } from '../words.ts';
import { isUnfit, textOf, valueOf, type Metadata } from './draft.ts';
import { ROWS_SHOWN, Turn } from './turn.tsx';

const said = words.metadata;

/** A metadata table as it is stored. */
export function MetadataGrid({ metadata, label }: { metadata: Metadata; label: string }) {
  const { columns, rows, identifierColumnId } = metadata;
  const [from, setFrom] = useState(0);
  if (rows.length === 0) return <p className="quiet">{said.noRows}</p>;
  const shown = rows.slice(from, from + ROWS_SHOWN);
  return (
    <>
      <div className="metadata-scroll" role="region" aria-label={label} tabIndex={0}>
        <table className="metadata-table">
          <thead>
            <tr>
              {columns.map(({ id, name, type }) => (
                <th key={id} scope="col">
                  {name}
                  <span className="small quiet">
                    {said.types[type]}
                    {id === identifierColumnId ? `, ${said.identifier}` : ''}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              // ids of rows may repeat
              <tr key={from + at}>
                {columns.map((column) => {
                  const text = textOf(valueOf(row, column));
                  return (
                    <td key={column.id} className={isUnfit(text, column.type) ? 'unfit' : ''}>
                      {text === '' ? <span className="quiet">{words.table.null}</span> : text}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Turn from={from} all={rows.length} turn={setFrom} />
    </>
  );
}
