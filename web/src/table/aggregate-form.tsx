import { useState, type SubmitEvent } from 'react';
import { fieldsOf } from '../ui/forms.ts';
import { words } from '../words.ts';
import { BUCKETS, OF_ONE_COLUMN } from './aggregates.ts';
import type { ToolProps } from './tool.ts';

const said = words.table.aggregate;

/** Groups rows and computes over each group. */
export function AggregateForm({ search, columns, change, close }: ToolProps & { close: () => void }) {
  const before = search.aggregation;
  const [by, setBy] = useState(before?.groupBy[0]?.column ?? '');
  const isMoment = /^(TIMESTAMP|DATE)/.test(columns.find(({ name }) => name === by)?.type ?? '');
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = fieldsOf(event.currentTarget);
    const timeBucket = BUCKETS.find((each) => each === fields['bucket']);
    const computed = OF_ONE_COLUMN.find((each) => each === fields['function']) ?? 'count';
    const keys = [fields['by'] ?? '', fields['also'] ?? ''].filter((name, index, all) => name !== '' && all.indexOf(name) === index);
    change({
      aggregation: {
        groupBy: keys.map((column) => ({ column, ...(column === by && isMoment && timeBucket !== undefined ? { timeBucket } : {}) })),
        functions: [{ column: computed === 'count' ? '*' : (fields['column'] ?? '*'), function: computed }],
      },
      orderBy: undefined,
      orderDirection: undefined,
      row: undefined,
    });
    close();
  };
  const choice = (id: string, label: string, value: string, onChange?: (next: string) => void) => (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        name={id}
        {...(onChange === undefined ? { defaultValue: value } : { value, onChange: (event) => onChange(event.target.value) })}
      >
        {id === 'column' ? null : <option value="">{said.none}</option>}
        {columns.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
  return (
    <form className="stack" onSubmit={submit}>
      {choice('by', said.by, by, setBy)}
      {isMoment ? (
        <div className="field">
          <label htmlFor="bucket">{said.bucket}</label>
          <select id="bucket" className="input" name="bucket" defaultValue={before?.groupBy[0]?.timeBucket ?? 'week'}>
            <option value="">{said.noBucket}</option>
            {BUCKETS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      ) : null}
      {choice('also', said.also, before?.groupBy[1]?.column ?? '')}
      <div className="field">
        <label htmlFor="function">{said.function}</label>
        <select id="function" className="input" name="function" defaultValue={before?.functions[0]?.function ?? 'avg'}>
          {OF_ONE_COLUMN.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      {choice(
        'column',
        said.column,
        before?.functions[0]?.column ?? columns.find(({ type }) => /^(DOUBLE|INT|BIGINT|DECIMAL)/.test(type))?.name ?? '',
      )}
      <button type="submit" className="button primary">
        {said.apply}
      </button>
    </form>
  );
}
