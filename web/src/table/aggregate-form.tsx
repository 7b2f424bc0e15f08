import { useState } from 'react';
import { orderByMeaning } from '../experiments/columns.ts';
import { SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';
import { BUCKETS, MOST_COMPUTED, MOST_GROUPS, OF_ONE_COLUMN } from './aggregates.ts';
import type { TableSearch } from './search.ts';
import type { ToolProps } from './tool.ts';

const said = words.table.aggregate;

type Aggregation = NonNullable<TableSearch['aggregation']>;
type GroupKey = Aggregation['groupBy'][number];
type Computed = Aggregation['functions'][number];

/** A list with another member at a place, or without that one; the place behind the last adds one. */
const withAt = <Member,>(list: readonly Member[], at: number, next: Member | undefined): readonly Member[] =>
  list.toSpliced(at, 1, ...(next === undefined ? [] : [next]));

/** Groups rows and computes over each group. What the form has no field for, such as a time zone, stays as it was. */
export function AggregateForm({ search, columns, change, close }: ToolProps & { close: () => void }) {
  const number = orderByMeaning(columns).find(({ type }) => /^(DOUBLE|INT|BIGINT|DECIMAL)/.test(type))?.name ?? columns[0]?.name ?? '*';
  const [groupBy, setGroupBy] = useState<readonly GroupKey[]>(search.aggregation?.groupBy ?? []);
  const [functions, setFunctions] = useState<readonly Computed[]>(search.aggregation?.functions ?? [{ column: number, function: 'avg' }]);
  const isMoment = (column: string) => /^(TIMESTAMP|DATE)/.test(columns.find(({ name }) => name === column)?.type ?? '');
  const submit = () => {
    change({
      aggregation: { groupBy: [...groupBy], functions: [...functions] },
      orderBy: undefined,
      orderDirection: undefined,
      row: undefined,
    });
    close();
  };
  const names = columns.map(({ name }) => <option key={name}>{name}</option>);

  const chooseKey = (at: number, column: string) => {
    if (column === '') setGroupBy(withAt(groupBy, at, undefined));
    else setGroupBy(withAt(groupBy, at, { column, ...(isMoment(column) ? { timeBucket: 'week' } : {}) }));
  };
  const chooseBucket = (at: number, { column, timezone }: GroupKey, chosen: string) => {
    const timeBucket = BUCKETS.find((each) => each === chosen);
    const key = timeBucket === undefined ? { column } : { column, timeBucket, ...(timezone === undefined ? {} : { timezone }) };
    setGroupBy(withAt(groupBy, at, key));
  };
  const chooseFunction = (at: number, chosen: string) => {
    const computed = OF_ONE_COLUMN.find((each) => each === chosen);
    const column = functions[at]?.column ?? functions[0]?.column ?? number;
    // unless it is named the API calls it count_count
    const rows = { column: '*', function: 'count' as const, ...(columns.some(({ name }) => name === 'count') ? {} : { alias: 'count' }) };
    const call = computed && (computed === 'count' ? rows : { column: column === '*' ? number : column, function: computed });
    setFunctions(withAt(functions, at, call));
  };

  const keyFields = (key: GroupKey | undefined, at: number) => (
    <div className="pair" key={`by-${at}`}>
      <SelectField
        id={`by-${at}`}
        label={at === 0 ? said.by : said.also}
        value={key?.column ?? ''}
        onChange={({ target }) => chooseKey(at, target.value)}
      >
        <option value="">{said.none}</option>
        {names}
      </SelectField>
      {key !== undefined && isMoment(key.column) ? (
        <SelectField
          id={`bucket-${at}`}
          label={key.timezone === undefined ? said.bucket : said.bucketIn(key.timezone)}
          value={key.timeBucket ?? ''}
          onChange={({ target }) => chooseBucket(at, key, target.value)}
        >
          <option value="">{said.noBucket}</option>
          {BUCKETS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </SelectField>
      ) : null}
    </div>
  );
  const functionFields = (call: Computed | undefined, at: number) => (
    <div className="pair" key={`function-${at}`}>
      <SelectField
        id={`function-${at}`}
        label={at === 0 ? said.function : said.alsoFunction}
        value={call?.function ?? ''}
        onChange={({ target }) => chooseFunction(at, target.value)}
      >
        {at === 0 && functions.length === 1 ? null : <option value="">{said.none}</option>}
        <Options
          texts={[...OF_ONE_COLUMN, ...(call?.function === 'corr' ? (['corr'] as const) : [])].map((each) => [each, said.functions[each]])}
        />
      </SelectField>
      {call === undefined || call.function === 'count' ? null : (
        <SelectField
          id={`column-${at}`}
          label={at === 0 ? said.column : said.alsoColumn}
          value={call.column}
          onChange={({ target }) => setFunctions(withAt(functions, at, { ...call, alias: undefined, column: target.value }))}
        >
          {names}
        </SelectField>
      )}
    </div>
  );
  return (
    <Form className="stack" send={submit}>
      {[...groupBy, undefined].slice(0, MOST_GROUPS).map(keyFields)}
      {[...functions, undefined].slice(0, MOST_COMPUTED).map(functionFields)}
      <button type="submit" className="button primary">
        {said.apply}
      </button>
    </Form>
  );
}
