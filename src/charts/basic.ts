import { flatten, type Chart, type ChartSeries } from './chart.ts';
import { color, field, isSplit, splitsOf, type Spec, type SpecMaker } from './spec.ts';

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
      const plain = field(chart, 'y');
      // the height of a bar or an area says how much: it begins at zero
      const y = {
        ...plain,
        ...(kind === 'bar' || kind === 'area' ? { scale: { ...plain.scale, zero: true } } : {}),
        ...(axis === 'secondary' ? { axis: { ...plain.axis, orient: 'right' } } : {}),
      };
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

/** How far apart points of one value are put, as a share of the room of their category. */
const JITTER = 0.7;

/** Points in the strip of their category, one strip for each series beside the other, a little aside of each other so that none hides another. */
const dots: SpecMaker = (chart) => {
  if (chart.axes['x']?.kind !== 'categorical') return points({ type: 'point', filled: true, size: 60 })(chart);
  const splits = isSplit(chart) ? splitsOf(chart) : [''];
  const room = 2 / splits.length;
  const values = flatten(chart).map((point, index) => {
    const at = Math.max(0, splits.indexOf(point['s'] as string));
    // multiples of the golden ratio lie evenly, and the same every time
    return { ...point, o: -1 + room * (at + 0.5) + room * JITTER * (((index * 0.618_034) % 1) - 0.5) };
  });
  return {
    data: { values },
    mark: { type: 'point', filled: true, size: values.length > 200 ? 18 : 45, opacity: 0.75 },
    encoding: {
      x: x(chart),
      xOffset: { field: 'o', type: 'quantitative', scale: { domain: [-1.1, 1.1] } },
      y: field(chart, 'y'),
      color: color(chart),
    },
  };
};

/** Slices with what share of the whole each is, where there is room to say it. */
const pie: SpecMaker = (chart) => {
  const rows = flatten(chart);
  const total = rows.reduce((sum, { values }) => sum + (Number(values) || 0), 0);
  const shared = rows.map((row) => {
    const share = (100 * (Number(row['values']) || 0)) / total;
    return { ...row, p: share >= 4 ? `${share.toFixed(share < 10 ? 1 : 0)} %` : '' };
  });
  const theta = { field: 'values', type: 'quantitative', stack: true };
  const slices = { field: 'labels', type: 'nominal', title: chart.axes['labels']?.title ?? '' };
  return {
    data: { values: shared },
    layer: [
      { mark: { type: 'arc', stroke: 'white' }, encoding: { theta, color: slices } },
      ...[{ stroke: 'white', strokeWidth: 4 }, {}].map((halo) => ({
        mark: { type: 'text', radius: { expr: 'min(width, height) / 2 - 45' }, fontSize: 14, fill: 'black', ...halo },
        encoding: { theta, detail: slices, text: { field: 'p', type: 'nominal' } },
      })),
    ],
  };
};

export const basic: Record<string, SpecMaker> = {
  line: traces('line'),
  scatter: traces('scatter'),
  bar: traces('bar'),
  area: traces('area'),
  'dot-plot': dots,
  bubble: points({ type: 'circle', opacity: 0.6 }, (chart): Spec => ({ size: field(chart, 'size') })),
  lollipop,
  pie,
};
