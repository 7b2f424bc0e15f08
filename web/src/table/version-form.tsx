import type { SubmitEvent } from 'react';
import { InputField } from '../ui/field.tsx';
import { fieldsOf } from '../ui/forms.ts';
import { words } from '../words.ts';
import { ToolButtons } from './tool-buttons.tsx';
import type { ToolProps } from './tool.ts';

const said = words.table.version;

/** Reads the table as it was. */
export function VersionForm({ search, version, change, close }: ToolProps & { close: () => void }) {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    change({ asOf: Number(fieldsOf(event.currentTarget)['version']) });
    close();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p className="hint">{said.hint}</p>
      <InputField
        id="version"
        label={said.label}
        name="version"
        type="number"
        min={0}
        max={version}
        required
        defaultValue={search.asOf ?? version}
      />
      <ToolButtons
        apply={said.apply}
        clear={said.clear}
        onClear={() => {
          change({ asOf: undefined });
          close();
        }}
      />
    </form>
  );
}
