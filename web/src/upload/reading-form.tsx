import { InputField, SelectField } from '../ui/field.tsx';
import { Options, type Texts } from '../ui/options.tsx';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { DATE_ORDERS, TYPE_WORDS, type Chosen, type TypeWord } from './chosen.ts';

const said = words.upload.reading;

interface ReadingFormProps {
  chosen: Chosen;
  isDisabled: boolean;
  change: (next: Partial<Chosen>) => void;
}

/** Opens the settings of how values are read, and gives the focus to one of them. */
export function showReading(setting: 'upload-encoding' | 'upload-sheet' | 'upload-missing' | 'upload-header' | 'upload-units'): void {
  const field = document.getElementById(setting);
  const folded = field?.closest('details');
  if (folded) folded.open = true;
  field?.focus();
}

/** Types that columns are told to have. */
function TypesField({ chosen: { types }, isDisabled, change }: ReadingFormProps) {
  const replace = (at: number, next: Partial<Chosen['types'][number]>) =>
    change({ types: types.map((each, index) => (index === at ? { ...each, ...next } : each)) });
  return (
    <fieldset className="types">
      <legend className="label">{said.types}</legend>
      {types.map(({ column, type }, at) => (
        // rows have no name of their own
        <div key={at} className="inline">
          <input
            className="input"
            aria-label={said.column}
            placeholder={said.column}
            value={column}
            maxLength={255}
            disabled={isDisabled}
            onChange={(event) => replace(at, { column: event.target.value })}
          />
          <select
            className="input"
            aria-label={said.typeOf(column)}
            value={type}
            disabled={isDisabled}
            onChange={(event) => replace(at, { type: event.target.value as TypeWord })}
          >
            <Options texts={TYPE_WORDS.map((each) => [each, words.upload.types[each]])} />
          </select>
          <TakeButton
            aria-label={said.removeType(column)}
            disabled={isDisabled}
            onClick={() => change({ types: types.filter((_, index) => index !== at) })}
          >
            ×
          </TakeButton>
        </div>
      ))}
      <button
        type="button"
        className="button"
        disabled={isDisabled}
        onClick={() => change({ types: [...types, { column: '', type: 'string' }] })}
      >
        {said.addType}
      </button>
    </fieldset>
  );
}

/** Settings of how text is read, where its values are not to decide. They are folded away until they are wanted. */
export function ReadingForm(props: ReadingFormProps) {
  const { chosen, isDisabled, change } = props;
  const select = (id: string, part: 'decimal' | 'dateOrder' | 'unitsRow' | 'encoding', label: string, texts: Texts) => (
    <SelectField
      id={id}
      label={label}
      value={chosen[part]}
      disabled={isDisabled}
      onChange={({ target }) => change({ [part]: target.value })}
    >
      <Options texts={texts} />
    </SelectField>
  );
  return (
    <details className="reading">
      <summary>{said.title}</summary>
      <div className="stack">
        <InputField
          id="upload-missing"
          label={said.missing}
          hint={said.missingHint}
          value={chosen.missing}
          maxLength={4_096}
          autoComplete="off"
          disabled={isDisabled}
          onChange={(event) => change({ missing: event.target.value })}
        />
        <div className="inline">
          {select('upload-decimal', 'decimal', said.decimal, [['', said.byValues], ...Object.entries(said.decimals)])}
          {select('upload-dates', 'dateOrder', said.dateOrder, [
            ['', said.byValues],
            ...DATE_ORDERS.map((order) => [order, said.dateOrders[order]] as const),
          ])}
          <InputField
            id="upload-header"
            label={said.headerRow}
            type="number"
            min={1}
            max={999}
            placeholder={said.headerFirst}
            value={chosen.headerRow}
            disabled={isDisabled}
            onChange={(event) => change({ headerRow: event.target.value })}
          />
          {select('upload-units', 'unitsRow', said.unitsRow, [['', said.byValues], ...Object.entries(said.unitsRows)])}
        </div>
        {chosen.kind === 'csv' || chosen.kind === 'tsv'
          ? select('upload-encoding', 'encoding', said.encoding, [['', said.encodingUsual], ...Object.entries(said.encodings)])
          : null}
        {chosen.kind === 'xlsx' ? (
          <InputField
            id="upload-sheet"
            label={said.sheet}
            placeholder={said.sheetFirst}
            value={chosen.sheet}
            maxLength={100}
            disabled={isDisabled}
            onChange={(event) => change({ sheet: event.target.value })}
          />
        ) : null}
        <TypesField {...props} />
      </div>
    </details>
  );
}
