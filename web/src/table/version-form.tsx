import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { words } from '../words.ts';
import { ToolButtons } from './tool-buttons.tsx';
import type { ToolProps } from './tool.ts';

const said = words.table.version;

/** Reads the table as it was. */
export function VersionForm({ search, version, change, close }: ToolProps & { close: () => void }) {
  const submit = (fields: Fields) => {
    change({ asOf: Number(fields['version']) });
    close();
  };
  return (
    <Form className="stack" send={submit}>
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
    </Form>
  );
}
