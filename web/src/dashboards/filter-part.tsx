import { useQuery } from '@tanstack/react-query';
import { chartsQuery } from '../charts/queries.ts';
import { factsOf, TRUTHS } from '../table/operators.ts';
import { valuesQuery } from '../table/queries.ts';
import { TextInput } from '../ui/text-input.tsx';
import { words } from '../words.ts';
import { misfitOf, tableOf, tablesShown, typedOf } from './filters.ts';
import { Framed, type PartProps } from './part.tsx';
import type { WidgetOf } from './queries.ts';

const said = words.dashboards;

/** Narrows every chart and table of the dashboard that is about the same table. What is typed is in the address. */
export function FilterPart({ widget, board }: PartProps<WidgetOf<'filter'>>) {
  const { id, tables, widgets, typed, type: change } = board;
  const { tableName, column, operator = 'equals' } = widget.config;
  const table = tableOf(tables, tableName);
  const found = table?.columns.find(({ name }) => name === column);
  const { takes, says } = factsOf(operator);
  const held = typedOf(widget, typed);
  const charts = useQuery(chartsQuery(id)).data;
  const values = useQuery({
    ...valuesQuery(id, table?.identifier ?? '', column ?? ''),
    enabled: found?.type === 'STRING' && takes !== 'none' && table?.canRead === true,
  });
  if (table === undefined || found === undefined)
    return (
      <Framed config={widget.config} fallback={said.filter}>
        <p className="quiet">{said.noTable}</p>
      </Framed>
    );
  const choices = found.type === 'BOOLEAN' ? TRUTHS : values.data?.truncated === false ? values.data.values : undefined;
  const label = said.only(`${found.name} ${says}`);
  const misfit = misfitOf(widget, typed, found.type);
  const field = (at: 0 | 1, name: string) => (
    <TextInput
      aria-label={name}
      list={values.data === undefined ? undefined : `values-${widget.id}`}
      placeholder={said.any}
      value={held[at] ?? ''}
      maxLength={1_024}
      take={(text) =>
        change(widget.id, (now) => {
          const [first = '', ...others] = typedOf(widget, now);
          return at === 0 ? [text, ...others] : [first, text];
        })
      }
    />
  );
  return (
    <Framed config={widget.config} fallback={said.filterOf(found.name)}>
      {takes === 'none' ? (
        <label className="check">
          <input
            type="checkbox"
            checked={held[0] === 'on'}
            onChange={({ target }) => change(widget.id, () => [target.checked ? 'on' : ''])}
          />
          {label}
        </label>
      ) : takes === 'one' && values.isLoading ? (
        // what is written into a field that becomes a list would be lost
        <p className="quiet">{words.waiting}</p>
      ) : takes === 'one' && choices !== undefined ? (
        <select
          className="input"
          aria-label={label}
          value={held[0] ?? ''}
          onChange={({ target }) => change(widget.id, () => [target.value])}
        >
          <option value="">{said.any}</option>
          {choices.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      ) : (
        <div className="inline">
          {field(0, takes === 'two' ? `${label}: ${said.from}` : label)}
          {takes === 'two' ? field(1, `${label}: ${said.to}`) : null}
          {values.data === undefined ? null : (
            <datalist id={`values-${widget.id}`}>
              {values.data.values.map((value) => (
                <option key={value} value={value} />
              ))}
            </datalist>
          )}
        </div>
      )}
      {tablesShown(widgets, tables, charts).some(({ identifier }) => identifier !== table.identifier) ? (
        <p className="small quiet">{said.narrows(table.displayName)}</p>
      ) : null}
      {misfit === undefined ? null : (
        <p className="notice problem small" role="alert">
          {words.table.filters.misfits[misfit.needed](misfit.text)}
        </p>
      )}
    </Framed>
  );
}
