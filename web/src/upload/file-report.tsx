import { useId } from 'react';
import { nameType } from '../experiments/columns.ts';
import type { TableListed } from '../experiments/queries.ts';
import { bytesText, countText } from '../shell/format.ts';
import { words } from '../words.ts';
import { ColumnTool } from './column-tool.tsx';
import { toFormWords } from './form-words.ts';
import type { UploadedColumn, UploadFile } from './queries.ts';
import { StatusTag } from './status-tag.tsx';

const said = words.upload.report;

interface FileReportProps {
  id: string;
  file: UploadFile;
  isOpen: boolean;
  /** The table as it is now; undefined when it is gone or not known yet. */
  table: TableListed | undefined;
  /** Whether the caller manages the experiment, and so may change columns. */
  mayChange: boolean;
}

function Examples({ column: { oddExamples = [], oddValues, name } }: { column: UploadedColumn }) {
  if (oddValues === 0) return null;
  return (
    <ul className="small">
      {oddExamples.map(({ row, value }) => (
        <li key={row}>
          <code>{value}</code> <span className="quiet number">{said.record(row)}</span>
        </li>
      ))}
      <li className="quiet">{said.keptIn(`${name}__text`)}</li>
    </ul>
  );
}

function ColumnRow({ column, tool }: { column: UploadedColumn; tool: React.ReactNode }) {
  const { name, originalKey, unit, type, widenedFrom, oddValues, missingValues, note } = column;
  return (
    <tr>
      <th scope="row">
        {name}
        {originalKey === name ? null : <span className="small quiet"> {said.calledBefore(originalKey)}</span>}
        {unit === undefined ? null : <span className="small quiet"> {said.unit(unit)}</span>}
      </th>
      <td data-label={said.type}>
        <span title={type.toLowerCase()}>{nameType(type)}</span>
        {widenedFrom === undefined ? null : <span className="small quiet"> {said.widened(nameType(widenedFrom))}</span>}
      </td>
      <td data-label={said.missing} className="number">
        {missingValues === undefined ? said.notCounted : countText(missingValues)}
      </td>
      <td data-label={said.odd} className="number">
        {oddValues === 0 ? countText(0) : <span className="tag warn">{countText(oddValues)}</span>}
      </td>
      <td data-label={said.examples} className={oddValues === 0 && note === undefined ? 'nothing' : ''}>
        <Examples column={column} />
        {note === undefined ? null : <p className="small">{toFormWords(note)}</p>}
      </td>
      {tool === null ? null : <td>{tool}</td>}
    </tr>
  );
}

/** What became of a file and of each of its columns. */
export function FileReport({ id, file, isOpen, table, mayChange }: FileReportProps) {
  const title = useId();
  const { path, status, byteCount, stored, quarantined, alreadyThere, rowsIn, message, columns } = file;
  const hasTools = mayChange && table !== undefined;
  return (
    <details className="panel file-report" open={isOpen} aria-labelledby={title}>
      <summary>
        <h3 id={title}>{path}</h3>
        <StatusTag status={status} />
        <span className="small quiet number">
          {said.fileFacts(countText(stored), countText(quarantined), countText(alreadyThere), countText(rowsIn))}
          {byteCount === null ? '' : `, ${bytesText(byteCount)}`}
        </span>
      </summary>
      {message === null ? null : <p className={`notice ${status === 'failed' ? 'problem' : ''}`}>{toFormWords(message)}</p>}
      {columns.length === 0 ? null : (
        <table className="report-table">
          <caption className="hidden-visually">{said.columnsOf(path)}</caption>
          <thead>
            <tr>
              <th scope="col">{said.column}</th>
              <th scope="col">{said.type}</th>
              <th scope="col">{said.missing}</th>
              <th scope="col">{said.odd}</th>
              <th scope="col">{said.examples}</th>
              {hasTools ? (
                <th scope="col">
                  <span className="hidden-visually">{said.change}</span>
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <ColumnRow
                key={column.originalKey}
                column={column}
                tool={hasTools ? <ColumnTool id={id} tableId={table.identifier} reported={column} columns={table.columns} /> : null}
              />
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
