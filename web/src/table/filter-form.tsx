import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FLAGS } from '../annotations/writes.ts';
import { Field, InputField, SelectField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';
import { factsOf, findMisfit, joinValues, operandOf, operatorsOf, splitValues, TRUTHS, type Misfit, type Operator } from './operators.ts';
import { valuesQuery } from './queries.ts';
import type { Filter } from './search.ts';
import type { ToolProps } from './tool.ts';

const said = words.table.filters;

interface FilterFormProps extends Pick<ToolProps, 'experimentId' | 'table' | 'columns'> {
  /** The condition that is changed; undefined for a new one. */
  begun?: Filter;
  take: (filter: Filter) => void;
}

/** The values of a condition as they were typed. */
const textsOf = (filter: Filter | undefined): readonly [value: string, to: string] => {
  if (filter?.value === undefined) return ['', ''];
  const values = [filter.value].flat().map(String);
  const { takes } = factsOf(filter.operator);
  return takes === 'two' ? [values[0] ?? '', values[1] ?? ''] : [takes === 'many' ? joinValues(values) : (values[0] ?? ''), ''];
};

/** Makes a condition, or changes one. The values of a text column are offered. */
export function FilterForm({ experimentId, table, columns, begun, take }: FilterFormProps) {
  const [name, setName] = useState(begun?.column ?? columns[0]?.name ?? '');
  const [wrong, setWrong] = useState<Misfit>();
  const [value, to] = textsOf(begun);
  const column = columns.find((each) => each.name === name);
  const type = column?.type ?? 'STRING';
  const operators = operatorsOf({ name, type });
  const [chosen, setChosen] = useState<Operator>(begun?.operator ?? 'equals');
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? 'equals');
  const { takes } = factsOf(operator);
  const values = useQuery({ ...valuesQuery(experimentId, table, name), enabled: type === 'STRING' && takes !== 'none' });
  const choices = type === 'BOOLEAN' ? TRUTHS : name === 'annotations' && ['', ...FLAGS].includes(value) ? FLAGS : undefined;
  const submit = ({ value: first = '', to: second = '' }: Fields) => {
    const misfit = findMisfit({ none: [], one: [first], two: [first, second], many: [] }[takes], type);
    setWrong(misfit);
    if (misfit !== undefined) return;
    const operands = {
      none: undefined,
      one: operandOf(first, type),
      two: [operandOf(first, type), operandOf(second, type)],
      many: splitValues(first).map((part) => operandOf(part, type)),
    }[takes];
    take({ column: name, operator, ...(operands === undefined ? {} : { value: operands }) });
  };
  return (
    <Form className="stack" send={submit}>
      <SelectField id="filter-column" label={said.column} value={name} onChange={(event) => setName(event.target.value)}>
        {columns.map((each) => (
          <option key={each.name}>{each.name}</option>
        ))}
      </SelectField>
      <SelectField
        id="filter-operator"
        label={said.operator}
        value={operator}
        onChange={(event) => setChosen(event.target.value as Operator)}
      >
        <Options texts={operators.map((each) => [each, factsOf(each).says])} />
      </SelectField>
      {takes === 'none' ? null : (
        <Field id="filter-value" label={takes === 'two' ? said.from : takes === 'many' && choices === undefined ? said.values : said.value}>
          {choices !== undefined ? (
            <select id="filter-value" className="input" name="value" defaultValue={value}>
              {choices.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          ) : (
            <input id="filter-value" className="input" name="value" required list="filter-values" autoComplete="off" defaultValue={value} />
          )}
          <datalist id="filter-values">
            {values.data?.values.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </Field>
      )}
      {takes === 'two' ? <InputField id="filter-to" label={said.to} name="to" required autoComplete="off" defaultValue={to} /> : null}
      {wrong === undefined ? null : (
        <p className="notice problem small" role="alert">
          {said.misfits[wrong.needed](wrong.text)}
        </p>
      )}
      <button type="submit" className="button primary">
        {said.apply}
      </button>
    </Form>
  );
}
