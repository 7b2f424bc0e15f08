import { useQuery } from '@tanstack/react-query';
import type { SubmitEvent } from 'react';
import { AnnotateForm } from '../annotations/form.tsx';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import type { Filter } from '../table/search.ts';
import { fieldsOf } from '../ui/forms.ts';
import { words } from '../words.ts';
import { filtersOf, MOST_ROWS, regionQuery, type Axes, type Axis } from './region.ts';
import type { Region } from './search.ts';

const said = words.charts.region;
const MS_OF_MINUTE = 60_000;

/** A moment as a field of date and time writes it, in the time of this machine. */
const momentField = (moment: number) => new Date(moment - new Date(moment).getTimezoneOffset() * MS_OF_MINUTE).toISOString().slice(0, -1);
const fieldOf = ({ isTime }: Axis, value: number) => (isTime ? momentField(value) : String(value));
const valueOf = ({ isTime }: Axis, text: string) => (isTime ? Date.parse(text) : Number(text));

interface RegionPanelProps {
  experimentId: string;
  table: string;
  axes: Axes;
  /** Filters that the chart has besides the region. */
  filters: readonly Filter[];
  region: Region | undefined;
  change: (region: Region | undefined) => void;
}

function Rows({ experimentId, table, filters }: { experimentId: string; table: string; filters: readonly Filter[] }) {
  const { data, error, refetch } = useQuery(regionQuery(experimentId, table, filters));
  return (
    <>
      <p role="status">{data === undefined ? (error === null ? words.waiting : '') : said.holds(data.total, countText(data.total))}</p>
      <Problem error={error} retry={() => void refetch()} />
      {data === undefined || data.total === 0 ? null : data.total > MOST_ROWS ? (
        <p className="notice">{said.tooMany(countText(MOST_ROWS))}</p>
      ) : (
        <AnnotateForm rows={{ experimentId, table, rowIds: data.rowIds }} />
      )}
    </>
  );
}

/** Fields for the ends of a region of a chart, and a form to annotate the rows in it. */
export function RegionPanel({ experimentId, table, axes, filters, region, change }: RegionPanelProps) {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = fieldsOf(event.currentTarget);
    const read = (name: 'x' | 'y'): [number, number] => [
      valueOf(axes[name], fields[`${name}-from`] ?? ''),
      valueOf(axes[name], fields[`${name}-to`] ?? ''),
    ];
    change({ x: read('x'), y: read('y') });
  };
  return (
    <section className="panel" aria-labelledby="region">
      <h2 id="region">{said.title}</h2>
      <p className="small quiet">{said.lead}</p>
      <form key={JSON.stringify(region)} className="stack" onSubmit={submit}>
        <div className="region-ends">
          {(['x', 'y'] as const).flatMap((name) =>
            (['from', 'to'] as const).map((end, at) => (
              <div key={`${name}-${end}`} className="field">
                <label htmlFor={`region-${name}-${end}`}>{said[end](axes[name].column)}</label>
                <input
                  id={`region-${name}-${end}`}
                  className="input"
                  name={`${name}-${end}`}
                  type={axes[name].isTime ? 'datetime-local' : 'number'}
                  step={axes[name].isTime ? '0.001' : 'any'}
                  required
                  defaultValue={region === undefined ? '' : fieldOf(axes[name], region[name][at] ?? 0)}
                />
              </div>
            )),
          )}
        </div>
        <div className="inline">
          <button type="submit" className="button">
            {said.choose}
          </button>
          {region === undefined ? null : (
            <button type="button" className="button bare" onClick={() => change(undefined)}>
              {said.none}
            </button>
          )}
        </div>
      </form>
      {region === undefined ? null : <Rows experimentId={experimentId} table={table} filters={[...filters, ...filtersOf(axes, region)]} />}
    </section>
  );
}
