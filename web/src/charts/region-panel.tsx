import { useQuery } from '@tanstack/react-query';
import { AnnotateForm } from '../annotations/form.tsx';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import type { Filter } from '../table/search.ts';
import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { useTyped } from '../ui/typed.ts';
import { words } from '../words.ts';
import { endsOf, filtersOf, MOST_ROWS, regionQuery, type Axes, type Axis } from './region.ts';
import type { Region } from './search.ts';

const said = words.charts.region;

// a field of date and time knows no zone: its text is read in that of the axis, which is UTC
const fieldOf = (end: string | number) => String(end).replace(/Z$/, '');
const valueOf = ({ of }: Axis, text: string) => (of === 'numbers' ? Number(text) : Date.parse(of === 'days' ? text : `${text}Z`));
const FIELDS = {
  numbers: ['number', 'any'],
  moments: ['datetime-local', '0.001'],
  'local times': ['datetime-local', '0.001'],
  days: ['date', '1'],
} as const;

const idOf = (name: 'x' | 'y', end: 'from' | 'to') => `region-${name}-${end}`;

interface RegionPanelProps {
  experimentId: string;
  table: string;
  axes: Axes;
  /** Filters that the chart has besides the region. */
  filters: readonly Filter[];
  region: Region | undefined;
  change: (region: Region | undefined) => void;
}

/** One end of a region along an axis, to be written. */
function EndField({ id, label, axis, value }: { id: string; label: string; axis: Axis; value: string }) {
  const [text, type] = useTyped(value);
  const [kind, step] = FIELDS[axis.of];
  return (
    <InputField
      id={id}
      label={label}
      name={id}
      type={kind}
      step={step}
      required
      value={text}
      onChange={({ target }) => type(target.value)}
    />
  );
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

/** Says how a chart of sums comes to have regions. */
export function SingleRows({ draw }: { draw: () => void }) {
  return (
    <section className="panel stack" aria-labelledby="region">
      <h2 id="region">{said.title}</h2>
      <p className="small quiet">{said.summedUp}</p>
      <p>
        <button type="button" className="button" onClick={draw}>
          {said.single}
        </button>
      </p>
    </section>
  );
}

/** Fields for the ends of a region of a chart, and a form to annotate the rows in it. */
export function RegionPanel({ experimentId, table, axes, filters, region, change }: RegionPanelProps) {
  const submit = (fields: Fields) => {
    const read = (name: 'x' | 'y'): [number, number] => [
      valueOf(axes[name], fields[idOf(name, 'from')] ?? ''),
      valueOf(axes[name], fields[idOf(name, 'to')] ?? ''),
    ];
    change({ x: read('x'), y: read('y') });
  };
  return (
    <section className="panel" aria-labelledby="region">
      <h2 id="region">{said.title}</h2>
      <p className="small quiet">{said.lead}</p>
      <Form className="stack" send={submit}>
        <div className="region-ends">
          {(['x', 'y'] as const).flatMap((name) =>
            (['from', 'to'] as const).map((end, at) => (
              <EndField
                key={idOf(name, end)}
                id={idOf(name, end)}
                label={said[end](axes[name].of === 'moments' ? said.inUtc(axes[name].column) : axes[name].column)}
                axis={axes[name]}
                value={region === undefined ? '' : fieldOf(endsOf(axes[name], region[name])[at] ?? '')}
              />
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
      </Form>
      {region === undefined ? null : <Rows experimentId={experimentId} table={table} filters={[...filters, ...filtersOf(axes, region)]} />}
    </section>
  );
}
