import { useQuery } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { words } from '../words.ts';
import { fieldsOf } from '../ui/forms.ts';
import { factsOf, operandOf, operatorsOf, TRUTHS, type Operator } from './operators.ts';
import { valuesQuery } from './queries.ts';
import type { Filter } from './search.ts';
import type { ToolProps } from './tool.ts';

const said = words.table.filters;

/** Adds a condition. The values of a text column are offered. */
export function FilterForm({ experimentId, table, search, columns, change, close }: ToolProps & { close: () => void }) {
  const [name, setName] = useState(columns[0]?.name ?? '');
  const column = columns.find((each) => each.name === name);
  const type = column?.type ?? 'STRING';
  const operators = operatorsOf({ name, type });
  const [chosen, setChosen] = useState<Operator>('equals');
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? 'equals');
  const { takes } = factsOf(operator);
  const values = useQuery({ ...valuesQuery(experimentId, table, name), enabled: type === 'STRING' && takes !== 'none' });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { value = '', to = '' } = fieldsOf(event.currentTarget);
    const operands = {
      none: undefined,
      one: operandOf(value, type),
      two: [operandOf(value, type), operandOf(to, type)],
      many: value.split(',').map((part) => operandOf(part.trim(), type)),
    }[takes];
    const added: Filter = { column: name, operator, ...(operands === undefined ? {} : { value: operands }) };
    change({ filters: [...(search.filters ?? []), added] });
    close();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="field">
        <label htmlFor="filter-column">{said.column}</label>
        <select id="filter-column" className="input" value={name} onChange={(event) => setName(event.target.value)}>
          {columns.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="filter-operator">{said.operator}</label>
        <select id="filter-operator" className="input" value={operator} onChange={(event) => setChosen(event.target.value as Operator)}>
          {operators.map((each) => (
            <option key={each} value={each}>
              {factsOf(each).says}
            </option>
          ))}
        </select>
      </div>
      {takes === 'none' ? null : (
        <div className="field">
          <label htmlFor="filter-value">{takes === 'two' ? said.from : takes === 'many' ? said.values : said.value}</label>
          {type === 'BOOLEAN' ? (
            <select id="filter-value" className="input" name="value">
              {TRUTHS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          ) : (
            <input id="filter-value" className="input" name="value" required list="filter-values" autoComplete="off" />
          )}
          <datalist id="filter-values">
            {values.data?.values.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </div>
      )}
      {takes === 'two' ? (
        <div className="field">
          <label htmlFor="filter-to">{said.to}</label>
          <input id="filter-to" className="input" name="to" required autoComplete="off" />
        </div>
      ) : null}
      <button type="submit" className="button primary">
        {said.apply}
      </button>
    </form>
  );
}
