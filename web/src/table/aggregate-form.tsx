import { useState } from 'react';
import { SelectField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { words } from '../words.ts';
import { BUCKETS, OF_ONE_COLUMN } from './aggregates.ts';
import type { ToolProps } from './tool.ts';

const said = words.table.aggregate;

/** Groups rows and computes over each group. */
export function AggregateForm({ search, columns, change, close }: ToolProps & { close: () => void }) {
  const before = search.aggregation;
  const [by, setBy] = useState(before?.groupBy[0]?.column ?? '');
  const [also, setAlso] = useState(before?.groupBy[1]?.column ?? '');
  const isMoment = (column: string) => /^(TIMESTAMP|DATE)/.test(columns.find(({ name }) => name === column)?.type ?? '');
  const submit = (fields: Fields) => {
    const computed = OF_ONE_COLUMN.find((each) => each === fields['function']) ?? 'count';
    const keys = [
      { column: by, bucket: fields['bucket'] },
      { column: also, bucket: fields['also-bucket'] },
    ].filter(({ column }, index) => column !== '' && (index === 0 || column !== by));
    change({
      aggregation: {
        groupBy: keys.map(({ column, bucket }) => {
          const timeBucket = BUCKETS.find((each) => each === bucket);
          return { column, ...(timeBucket === undefined ? {} : { timeBucket }) };
        }),
        functions: [{ column: computed === 'count' ? '*' : (fields['column'] ?? '*'), function: computed }],
      },
      orderBy: undefined,
      orderDirection: undefined,
      row: undefined,
    });
    close();
  };
  const choice = (id: string, label: string, value: string, onChange?: (next: string) => void) => (
    <SelectField
      id={id}
      label={label}
      name={id}
      {...(onChange === undefined ? { defaultValue: value } : { value, onChange: (event) => onChange(event.target.value) })}
    >
      {id === 'column' ? null : <option value="">{said.none}</option>}
      {columns.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </SelectField>
  );
  const bucketChoice = (id: string, place: number) => (
    <SelectField id={id} label={said.bucket} name={id} defaultValue={before?.groupBy[place]?.timeBucket ?? 'week'}>
      <option value="">{said.noBucket}</option>
      {BUCKETS.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </SelectField>
  );
  return (
    <Form className="stack" send={submit}>
      {choice('by', said.by, by, setBy)}
      {isMoment(by) ? bucketChoice('bucket', 0) : null}
      {choice('also', said.also, also, setAlso)}
      {isMoment(also) && also !== by ? bucketChoice('also-bucket', 1) : null}
      <SelectField id="function" label={said.function} name="function" defaultValue={before?.functions[0]?.function ?? 'avg'}>
        {OF_ONE_COLUMN.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </SelectField>
      {choice(
        'column',
        said.column,
        before?.functions[0]?.column ?? columns.find(({ type }) => /^(DOUBLE|INT|BIGINT|DECIMAL)/.test(type))?.name ?? '',
      )}
      <button type="submit" className="button primary">
        {said.apply}
      </button>
    </Form>
  );
}
