import { flatten, type Chart, type ChartSeries } from './chart.ts';
import { color, field, type Spec, type SpecMaker } from './spec.ts';

const MARKS: Record<string, object> = {
  line: { type: 'line' },
  scatter: { type: 'point', filled: true, opacity: 0.7 },
  bar: { type: 'bar' },
  area: { type: 'area', opacity: 0.5, line: true },
};

const x = (chart: Chart) => (chart.axes['x'] ? field(chart, 'x') : { field: 'i', type: 'quantitative', title: 'row' });

/** Lines, bars, points and areas; each series may be of another kind and stand on the second axis. */
const traces =
  (usual: string): SpecMaker =>
  (chart) => {
    const kindOf = ({ traceType, axis }: ChartSeries) => `${traceType ?? usual} ${axis ?? 'primary'}`;
    const groups = new Set(chart.series.map(kindOf));
    const layers = [...groups].map((key) => {
      const series = chart.series.filter((one) => kindOf(one) === key);
      const [kind = usual, axis] = key.split(' ');
      const values = flatten({ ...chart, series }).map((point) => ({
        ...point,
        s: point['s'] ?? '',
        low: Number(point['y']) - Number(point['error'] ?? 0),
        high: Number(point['y']) + Number(point['error'] ?? 0),
      }));
      const y = { ...field(chart, 'y'), ...(axis === 'secondary' ? { axis: { orient: 'right' } } : {}) };
      const grouped = kind === 'bar' && groups.size === 1 && chart.series.length > 1 ? { xOffset: { field: 's' } } : {};
      const marks: object[] = [
        {
          mark: MARKS[kind] ?? MARKS['line'],
          encoding: { x: x(chart), y: kind === 'area' ? { ...y, stack: null } : y, ...grouped, color: color(chart) },
        },
      ];
      if (series.some(({ points }) => points['error'] !== undefined))
        marks.push({
          mark: 'rule',
          encoding: { x: x(chart), y: { field: 'low', type: 'quantitative', title: field(chart, 'y').title }, y2: { field: 'high' } },
        });
      return { data: { values }, layer: marks };
    });
    const mixed = chart.series.some(({ axis }) => axis === 'secondary');
    return { layer: layers, ...(mixed ? { resolve: { scale: { y: 'independent' } } } : {}) };
  };

const points =
  (mark: object, more: (chart: Chart) => object = () => ({})): SpecMaker =>
  (chart) => ({
    data: { values: flatten(chart) },
    mark,
    encoding: { x: x(chart), y: field(chart, 'y'), color: color(chart), ...more(chart) },
  });

const lollipop: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  layer: [
    { mark: 'rule', encoding: { x: x(chart), y: field(chart, 'y'), y2: { datum: 0 } } },
    { mark: { type: 'point', filled: true, size: 90 }, encoding: { x: x(chart), y: field(chart, 'y') } },
  ],
});

const pie: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  mark: { type: 'arc', stroke: 'white' },
  encoding: {
    theta: { field: 'values', type: 'quantitative', stack: true },
    color: { field: 'labels', type: 'nominal', title: chart.axes['labels']?.title ?? '' },
  },
});

export const basic: Record<string, SpecMaker> = {
  line: traces('line'),
  scatter: traces('scatter'),
  bar: traces('bar'),
  area: traces('area'),
  'dot-plot': points({ type: 'point', filled: true, size: 60 }),
  bubble: points({ type: 'circle', opacity: 0.6 }, (chart): Spec => ({ size: field(chart, 'size') })),
  lollipop,
  pie,
};
