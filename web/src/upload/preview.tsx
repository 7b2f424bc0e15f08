import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { nameType } from '../experiments/columns.ts';
import { bytesText, countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { Options } from '../ui/options.tsx';
import { useSettled } from '../ui/settled.ts';
import { words } from '../words.ts';
import { MOST_PREVIEWED } from '../../../clients/typescript/src/uploads.ts';
import { previewFieldsOf, TYPE_WORDS, withColumn, withType, type Chosen, type TypeWord } from './chosen.ts';
import { toFormWords } from './form-words.ts';
import { isReadAsText, othersThan } from './kinds.ts';
import { showReading } from './reading-form.tsx';
import { previewQuery, type PreviewedColumn, type PreviewedFile } from './queries.ts';
import { LeftCells, placeColumns, TakeIn } from './take-in.tsx';

const said = words.upload.preview;
const { report } = words.upload;

/** Reasons why a preview knows nothing of a file that may well be read. */
const UNKNOWN: readonly (string | null)[] = ['whole_file_needed', 'part_too_short', 'took_too_long'];

type Outcome = keyof typeof said.status;
const MOODS: Readonly<Record<Outcome, '' | 'good' | 'warn'>> = {
  completed: 'good',
  partial: 'warn',
  failed: 'warn',
  unknown: '',
  there: '',
};

function outcomeOf({ status, reason, alreadyThere }: PreviewedFile): Outcome {
  if (UNKNOWN.includes(reason)) return 'unknown';
  return alreadyThere > 0 ? 'there' : status;
}

interface TypeCellProps {
  column: PreviewedColumn;
  /** The type that the column is told to have. */
  told: TypeWord | undefined;
  /** Whether the rows go into a table that is there. */
  isThere: boolean;
  isDisabled: boolean;
  /** Undefined where types cannot be told. */
  tell: ((type: TypeWord | undefined) => void) | undefined;
}

/** The type of a column; a choice where the table has no such column yet. */
function TypeCell({ column: { name, type, widenedFrom, fit }, told, isThere, isDisabled, tell }: TypeCellProps) {
  const fitting = said.fit[fit];
  return (
    <>
      {tell !== undefined && fit === 'new' ? (
        <select
          className="input"
          aria-label={words.upload.reading.typeOf(name)}
          value={told ?? ''}
          disabled={isDisabled}
          onChange={(event) => tell(TYPE_WORDS.find((each) => each === event.target.value))}
        >
          <option value="">{told === undefined ? said.byValues(nameType(type)) : words.upload.reading.byValues}</option>
          <Options texts={TYPE_WORDS.map((each) => [each, words.upload.types[each]])} />
        </select>
      ) : (
        <span title={type.toLowerCase()}>{nameType(type)}</span>
      )}
      {widenedFrom === undefined ? null : <span className="small quiet"> {report.widened(nameType(widenedFrom))}</span>}
      {fitting === null || (fit === 'new' && !isThere) ? null : <span className="small quiet"> {fitting}</span>}
    </>
  );
}

function Missing({ column: { missingValues = 0, missingMarks } }: { column: PreviewedColumn }) {
  const empty = missingValues - missingMarks.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {countText(missingValues)}
      {missingMarks.length === 0 ? null : (
        <ul className="small quiet">
          {missingMarks.map(({ mark, count }) => (
            <li key={mark}>{said.mark(mark, countText(count))}</li>
          ))}
          {empty > 0 ? <li>{said.empty(countText(empty))}</li> : null}
        </ul>
      )}
    </>
  );
}

function ColumnCells({ column, ...rest }: TypeCellProps) {
  const { name, originalKey, unit, oddValues, oddExamples = [], examples, note } = column;
  return (
    <>
      <th scope="row">
        {name}
        {originalKey === name ? null : <span className="small quiet"> {report.calledBefore(originalKey)}</span>}
        {unit === undefined ? null : <span className="small quiet"> {report.unit(unit)}</span>}
      </th>
      <td data-label={report.type}>
        <div>
          <TypeCell column={column} {...rest} />
          {note === undefined ? null : <p className="small">{toFormWords(note)}</p>}
        </div>
      </td>
      <td data-label={report.missing} className="number">
        <div>
          <Missing column={column} />
        </div>
      </td>
      <td data-label={report.odd} className="number">
        {oddValues === 0 ? (
          countText(0)
        ) : (
          <div>
            <span className="tag warn">{countText(oddValues)}</span>
            <ul className="small">
              {oddExamples.map(({ row, value }) => (
                <li key={row}>
                  <code>{value}</code> <span className="quiet">{report.record(row)}</span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </td>
      <td data-label={said.first} className={examples.length === 0 ? 'nothing' : ''}>
        <ul className="small">
          {examples.map(({ row, value, sent }) => (
            <li key={row}>
              <code>{value}</code>
              {sent === undefined ? null : <span className="quiet"> {said.from(sent)}</span>}
            </li>
          ))}
        </ul>
      </td>
    </>
  );
}

/** How the file as a whole is read. */
function readingText({ reading }: PreviewedFile): string {
  if (reading === null) return '';
  const { encoding, delimiter, decimal, headerLine = 1 } = reading;
  return [
    ...(encoding === undefined ? [] : [said.reading.encoding(encoding)]),
    ...(delimiter === undefined ? [] : [said.reading.delimiter(said.reading.delimiters[delimiter] ?? delimiter)]),
    ...(decimal === undefined ? [] : [said.reading.decimal[decimal]]),
    ...(headerLine === 1 ? [] : [said.reading.header(countText(headerLine))]),
  ].join(' ');
}

/** The settings that may let a file be read which cannot be read otherwise. */
function settingsFor(kind: Chosen['kind'], { status, reason }: PreviewedFile) {
  const isOfAnotherSheet = kind === 'xlsx' && status === 'failed' && !UNKNOWN.includes(reason);
  const isOfOtherCharacters = kind !== 'xlsx' && /wrong_encoding|invalid_utf8|invalid_characters/.test(reason ?? '');
  return [
    ...(reason === 'bad_header' ? ['upload-header' as const] : []),
    ...(isOfAnotherSheet ? ['upload-sheet' as const] : []),
    ...(isOfOtherCharacters ? ['upload-encoding' as const] : []),
  ];
}

interface FilePreviewProps {
  file: PreviewedFile;
  isOpen: boolean;
  chosen: Chosen;
  isDisabled: boolean;
  tell: TellType | undefined;
  take: (told: Chosen['leaveOut'][number]) => void;
}
type TellType = (column: string, type: TypeWord | undefined) => void;

function FilePreview({ file, isOpen, chosen, isDisabled, tell, take }: FilePreviewProps) {
  const title = useId();
  const { path, isPart, byteCount, rowsIn, quarantined, message, columns, otherColumns } = file;
  const outcome = outcomeOf(file);
  const records = countText(rowsIn);
  const hasColumns = columns.length > 0 || file.reason === 'nothing_left';
  const settings = settingsFor(chosen.kind, file);
  return (
    <details className="file-report" open={isOpen} aria-labelledby={title}>
      <summary>
        <h4 id={title}>{path}</h4>
        <span className={`tag ${MOODS[outcome]}`}>{said.status[outcome]}</span>
        {columns.length === 0 ? null : (
          <span className="small quiet number">
            {said.facts(isPart ? said.part(records) : said.whole(records), bytesText(byteCount), countText(quarantined))}
          </span>
        )}
      </summary>
      {message === null ? null : <p className={`notice ${outcome === 'failed' ? 'problem' : ''}`}>{toFormWords(message)}</p>}
      {settings.length === 0 ? null : (
        <p className="inline">
          {settings.map((setting) => (
            <button key={setting} type="button" className="button" disabled={isDisabled} onClick={() => showReading(setting)}>
              {said.settings[setting]}
            </button>
          ))}
        </p>
      )}
      {!hasColumns ? null : (
        <>
          <p className="small quiet">{readingText(file)}</p>
          {isReadAsText(chosen.kind) && columns.some(({ oddValues }) => oddValues > 0) ? (
            <p className="inline small">
              {said.oddHint}
              <button type="button" className="button" disabled={isDisabled} onClick={() => showReading('upload-missing')}>
                {said.oddSetting}
              </button>
            </p>
          ) : null}
          {isReadAsText(chosen.kind) && columns.some(({ note }) => note !== undefined) ? (
            <p className="inline small">
              {said.noteHint}
              <button type="button" className="button" disabled={isDisabled} onClick={() => showReading('upload-missing')}>
                {said.noteSetting}
              </button>
            </p>
          ) : null}
          {columns.some(({ unit }) => unit !== undefined) ? (
            <p className="inline small">
              {said.unitsHint}
              <button type="button" className="button" disabled={isDisabled} onClick={() => showReading('upload-units')}>
                {said.unitsSetting}
              </button>
            </p>
          ) : null}
          <table className="report-table">
            <caption className="hidden-visually">{said.columnsOf(path)}</caption>
            <thead>
              <tr>
                <th scope="col">{report.column}</th>
                <th scope="col">{report.type}</th>
                <th scope="col">{report.missing}</th>
                <th scope="col">{report.odd}</th>
                <th scope="col">{said.first}</th>
                <th scope="col">{said.taken}</th>
              </tr>
            </thead>
            <tbody>
              {placeColumns(columns, chosen.leaveOut).map(({ name, isTaken, column }, at) => (
                <tr key={name}>
                  {column === undefined ? (
                    <LeftCells name={name} isTaken={isTaken} />
                  ) : (
                    <ColumnCells
                      column={column}
                      told={chosen.types.find((each) => each.column.trim() === name)?.type}
                      isThere={chosen.tableId !== ''}
                      isDisabled={isDisabled}
                      tell={tell && ((type) => tell(name, type))}
                    />
                  )}
                  <td data-label={said.taken}>
                    <TakeIn
                      name={name}
                      isTaken={isTaken}
                      isDisabled={isDisabled}
                      take={(next) => take({ column: name, at, isTaken: next })}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {otherColumns.length === 0 ? null : <p className="small quiet">{said.others(otherColumns.join(', '))}</p>}
        </>
      )}
    </details>
  );
}

/** What is known of the chosen files before they are sent. It follows the settings of how they are read. */
export function usePreview(id: string, chosen: Chosen) {
  const settled = useSettled(chosen);
  const { files, kind } = settled;
  const isOfKind = othersThan(kind, files).length === 0;
  const asked = useQuery({
    ...previewQuery(id, previewFieldsOf(settled), files.slice(0, MOST_PREVIEWED)),
    enabled: files.length > 0 && isOfKind,
  });
  const isKnown = settled === chosen && asked.isSuccess && !asked.isPlaceholderData && files.length <= MOST_PREVIEWED;
  /** None of the files can be read as they are. */
  const isHopeless = isKnown && asked.data.files.every((file) => outcomeOf(file) === 'failed');
  return { ...asked, files, kind, isOfKind, isHopeless };
}

interface PreviewProps {
  preview: ReturnType<typeof usePreview>;
  chosen: Chosen;
  isDisabled: boolean;
  change: (change: (before: Chosen) => Chosen) => void;
}

/** Shows what is decided of each column of the chosen files, before they are sent. */
export function Preview({ preview, chosen, isDisabled, change }: PreviewProps) {
  const { files, kind, isOfKind, data, error, isFetching, isPlaceholderData, fetchStatus, refetch } = preview;
  if (!isOfKind || files.length === 0) return null;
  const tell: TellType | undefined = isReadAsText(kind) ? (column, type) => change((before) => withType(before, column, type)) : undefined;
  const take: FilePreviewProps['take'] = (told) => change((before) => withColumn(before, told));
  return (
    <section className="stack preview" aria-labelledby="preview" aria-busy={isFetching}>
      <h3 id="preview">{said.title}</h3>
      {error === null ? (
        <p role="status" className="small quiet">
          {fetchStatus === 'paused' ? said.offline : isFetching ? said.looking : said.hint}
        </p>
      ) : (
        <>
          <Problem error={error} retry={() => void refetch()} adviceHere={words.upload.advice} />
          <p className="small quiet">{said.allTheSame}</p>
        </>
      )}
      {files.length > MOST_PREVIEWED ? <p className="small quiet">{said.some(MOST_PREVIEWED, files.length)}</p> : null}
      {error !== null || data === undefined ? null : (
        <div className={isPlaceholderData ? 'stack quiet' : 'stack'}>
          {data.files.map((file, at) => (
            <FilePreview key={file.path} file={file} isOpen={at === 0} chosen={chosen} isDisabled={isDisabled} tell={tell} take={take} />
          ))}
        </div>
      )}
    </section>
  );
}
