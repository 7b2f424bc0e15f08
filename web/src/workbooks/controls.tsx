import { InputField, SelectField, TextField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';

interface ControlProps {
  id: string;
  label: string;
  value: string;
  isDisabled: boolean;
  onChange: (text: string) => void;
}

/** A text of one line. */
export function Line({ id, label, value, isDisabled, onChange }: ControlProps) {
  return (
    <InputField
      id={id}
      label={label}
      maxLength={255}
      value={value}
      readOnly={isDisabled}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** A text of several lines. */
export function Lines({ id, label, value, isDisabled, onChange, rows = 3 }: ControlProps & { rows?: number }) {
  return (
    <TextField id={id} label={label} rows={rows} value={value} readOnly={isDisabled} onChange={(event) => onChange(event.target.value)} />
  );
}

/** A list to choose one of. A chosen value that is no longer in the list stays. */
export function Choose({ id, label, value, isDisabled, onChange, texts }: ControlProps & { texts: Readonly<Record<string, string>> }) {
  return (
    <SelectField id={id} label={label} value={value} disabled={isDisabled} onChange={(event) => onChange(event.target.value)}>
      {value in texts ? null : <option value={value}>{value === '' ? words.workbooks.choose : value}</option>}
      <Options texts={Object.entries(texts)} />
    </SelectField>
  );
}
