import { useRef, useState } from 'react';
import { nameType } from '../experiments/columns.ts';
import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { words } from '../words.ts';
import { ToolButtons } from './tool-buttons.tsx';
import type { ToolProps } from './tool.ts';

const said = words.table.columns;

/** Chooses the columns that are read. */
export function ColumnsForm({ search, columns, change, close }: ToolProps & { close: () => void }) {
  const shown = new Set(search.columns ?? columns.map(({ name }) => name));
  const [find, setFind] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const isFound = (name: string) => name.toLowerCase().includes(find.trim().toLowerCase());
  const mark = (isMarked: boolean) => {
    for (const box of list.current?.querySelectorAll<HTMLInputElement>('label:not([hidden]) input') ?? []) box.checked = isMarked;
  };
  const submit = (_fields: Fields, form: HTMLFormElement) => {
    const chosen = new FormData(form).getAll('column').map(String);
    change({ columns: chosen.length === 0 || chosen.length === columns.length ? undefined : chosen });
    close();
  };
  return (
    <Form className="stack" send={submit}>
      <InputField
        id="column-find"
        label={said.find}
        type="search"
        autoComplete="off"
        value={find}
        onChange={({ target }) => setFind(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.preventDefault();
        }}
      />
      <div className="inline">
        <button type="button" className="button bare" onClick={() => mark(true)}>
          {said.mark}
        </button>
        <button type="button" className="button bare" onClick={() => mark(false)}>
          {said.unmark}
        </button>
      </div>
      <div ref={list} className="checks">
        {columns.map(({ name, type }) => (
          <label key={name} hidden={!isFound(name)}>
            <input type="checkbox" name="column" value={name} defaultChecked={shown.has(name)} /> {name}
            <span className="small quiet" title={type.toLowerCase()}>
              {nameType(type)}
            </span>
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
