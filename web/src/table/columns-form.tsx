import { Form, type Fields } from '../ui/form.tsx';
import { words } from '../words.ts';
import { ToolButtons } from './tool-buttons.tsx';
import type { ToolProps } from './tool.ts';

const said = words.table.columns;

/** Chooses the columns that are read. */
export function ColumnsForm({ search, columns, change, close }: ToolProps & { close: () => void }) {
  const shown = new Set(search.columns ?? columns.map(({ name }) => name));
  const submit = (_fields: Fields, form: HTMLFormElement) => {
    const chosen = new FormData(form).getAll('column').map(String);
    change({ columns: chosen.length === 0 || chosen.length === columns.length ? undefined : chosen });
    close();
  };
  return (
    <Form className="stack" send={submit}>
      <div className="checks">
        {columns.map(({ name, type }) => (
          <label key={name}>
            <input type="checkbox" name="column" value={name} defaultChecked={shown.has(name)} /> {name}
            <span className="small quiet">{type.toLowerCase()}</span>
          </label>
        ))}
      </div>
      <ToolButtons
        apply={said.apply}
        clear={said.all}
        onClear={() => {
          change({ columns: undefined });
          close();
        }}
      />
    </Form>
  );
}
