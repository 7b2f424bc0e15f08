import type { ChartListed } from '../charts/queries.ts';
import { isGiven } from '../experiments/columns.ts';
import type { TableListed } from '../experiments/queries.ts';
import { SelectField } from '../ui/field.tsx';
import { openList } from '../ui/open-list.ts';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';
import { HEIGHTS, spanOf, type Height, type Width } from './arrange.ts';
import type { Widget } from './queries.ts';

const said = words.dashboards;

interface AddPartsProps {
  columns: number;
  charts: readonly ChartListed[];
  tables: readonly TableListed[];
  add: (widget: Widget) => void;
}

interface Choice {
  value: string;
  text: string;
  /** What it stands under in the list. */
  group?: string;
}

/** A list that adds what is chosen, and then shows its first entry again. */
function Add({ id, label, choices, add }: { id: string; label: string; choices: readonly Choice[]; add: (value: string) => void }) {
  return (
    <SelectField id={id} label={`${said.form.add} ${label}`} value="" onKeyDown={openList} onChange={({ target }) => add(target.value)}>
      <option value="" disabled>
        {said.form.choose}
      </option>
      {[...new Set(choices.map(({ group }) => group))].map((group) => {
        const of = choices.filter((choice) => choice.group === group);
        const options = <Options key={group} texts={of.map(({ value, text }) => [value, text])} />;
        return group === undefined ? (
          options
        ) : (
          <optgroup key={group} label={group}>
            {options}
          </optgroup>
        );
      })}
    </SelectField>
  );
}

const titled = { showTitle: true, showDescription: true } as const;

/** Adds charts, text, rows and filters to the end of a dashboard. */
export function AddParts({ columns, charts, tables, add }: AddPartsProps) {
  const readable = tables.filter(({ canRead }) => canRead);
  const placed = (width: Width, height: Height) => ({
    id: crypto.randomUUID(),
    // behind all others; arranging the parts decides the place
    layout: { col: 0, row: 0, colSpan: spanOf(width, columns), rowSpan: HEIGHTS[height] },
  });
  const filters = readable.flatMap(({ identifier, displayName, columns: all }) =>
    all
      .filter(({ name, type }) => /^(STRING|BOOLEAN|DATE|INT|BIGINT|DOUBLE)/.test(type) && !isGiven(name))
      .map(({ name }) => ({ tableName: identifier, column: name, group: displayName })),
  );
  return (
    <div className="inline add-parts">
      {charts.length === 0 ? (
        <p className="hint">{said.form.noChart}</p>
      ) : (
        <Add
          id="add-chart"
          label={said.form.addChart}
          choices={charts.map(({ id, name }) => ({ value: id, text: name }))}
          add={(visualizationId) =>
            add({
              ...placed('half', 'medium'),
              type: 'visualization',
              config: { visualizationId, showTitle: true, showDescription: false },
            })
          }
        />
      )}
      <Add
        id="add-table"
        label={said.form.addTable}
        choices={readable.map(({ identifier, displayName }) => ({ value: identifier, text: displayName }))}
        add={(tableName) => {
          const own = readable.find(({ identifier }) => identifier === tableName)?.columns.filter(({ name }) => !isGiven(name)) ?? [];
          const columns = own.map(({ name }) => name);
          add({ ...placed('half', 'medium'), type: 'table', config: { ...titled, tableName, columns, pageSize: 10 } });
        }}
      />
      <Add
        id="add-filter"
        label={said.form.addFilter}
        choices={filters.map(({ column, group }, at) => ({ value: String(at), text: column, group }))}
        add={(chosen) => {
          const { tableName, column } = filters[Number(chosen)] ?? {};
          add({ ...placed('quarter', 'low'), type: 'filter', config: { ...titled, tableName, column, operator: 'equals' } });
        }}
      />
      <button
        type="button"
        className="button"
        onClick={() => add({ ...placed('whole', 'low'), type: 'richText', config: { html: said.text.new } })}
      >
        {said.form.addText}
      </button>
    </div>
  );
}
