import { flatten, findLook, MOST_LINE_POINTS, pickDots, printText, type Chart, type ChartSeries, type Point } from './chart.ts';
import { pickInk } from './look.ts';
import { makeColor, makeField, isSplit, listSplits, type Spec, type SpecMaker } from './spec.ts';

const MARKS: Record<string, object> = {
  line: { type: 'line' },
  scatter: { type: 'point', filled: true, opacity: 0.7 },
  bar: { type: 'bar' },
  area: { type: 'area', opacity: 0.5, line: true },
};

const x = (chart: Chart) => (chart.axes['x'] ? makeField(chart, 'x') : { field: 'i', type: 'quantitative', title: 'row' });

const CAP_PX = 8;

/** A line from the lower to the upper end of each error, with a cap at both; points without an error have none. */
function errorBars(values: readonly Point[], place: object, y: object): Spec {
  const known = values.filter(({ error, y: at }) => typeof error === 'number' && Number.isFinite(error) && typeof at === 'number');
  const ends = known.map((point) => ({
    ...point,
    low: Number(point['y']) - Number(point['error']),
    high: Number(point['y']) + Number(point['error']),
  }));
  const cap = (field: string) => ({
    mark: { type: 'tick', orient: 'horizontal', size: CAP_PX, thickness: 1.2, opacity: 1 },
    encoding: { ...place, y: { ...y, field } },
  });
  return {
    data: { values: ends },
    layer: [
      { mark: { type: 'rule', strokeWidth: 1.2 }, encoding: { ...place, y: { ...y, field: 'low' }, y2: { field: 'high' } } },
      cap('low'),
      cap('high'),
    ],
  };
}

/** Lines, bars, points and areas; each series may be of another kind and stand on the second axis. */
const traces =
  (usual: string): SpecMaker =>
  (chart) => {
    const kindOf = ({ traceType }: ChartSeries) => traceType ?? usual;
    const kinds = new Set(chart.series.map(kindOf));
    const isDual = chart.axes['y2'] !== undefined;
    const layersOn = (axis: 'primary' | 'secondary') =>
      [...kinds].flatMap((kind) => {
        const series = chart.series.filter((one) => kindOf(one) === kind && (!isDual || (one.axis ?? 'primary') === axis));
        if (series.length === 0) return [];
        const shown = isDual && axis === 'secondary' ? 'y2' : 'y';
        const part: Chart = { ...chart, series, axes: { ...chart.axes, y: chart.axes[shown] } };
        const values = pickDots(part, kind === 'line' || kind === 'area' ? { most: MOST_LINE_POINTS } : {});
        const plain = makeField(part, 'y', findLook(chart, shown));
        // the height of a bar or an area says how much: it begins at zero
        const y = {
          ...plain,
          ...((kind === 'bar' || kind === 'area') && findLook(chart, shown).scale !== 'log' && !findLook(chart, shown).range
            ? { scale: { ...plain.scale, zero: true } }
            : {}),
          ...(axis === 'secondary' ? { axis: { ...plain.axis, orient: 'right' } } : {}),
        };
        const isBeside = kind === 'bar' && kinds.size === 1 && chart.series.length > 1;
        const place = { x: x(chart), ...(isBeside ? { xOffset: { field: 's' } } : {}) };
        const marks: object[] = [
          {
            mark: MARKS[kind] ?? MARKS['line'],
            encoding: { ...place, y: kind === 'area' ? { ...y, stack: null } : y, color: makeColor(chart) },
          },
        ];
        if (series.some(({ points }) => points['error'] !== undefined))
          marks.push(errorBars(values, kind === 'bar' ? place : { ...place, color: makeColor(chart) }, y));
        return [{ data: { values }, layer: marks }];
      });
    if (!isDual) return { layer: layersOn(chart.series.every(({ axis }) => axis === 'secondary') ? 'secondary' : 'primary') };
    return { layer: [{ layer: layersOn('primary') }, { layer: layersOn('secondary') }], resolve: { scale: { y: 'independent' } } };
  };

const points =
  (mark: object, more: (chart: Chart) => object = () => ({})): SpecMaker =>
  (chart) => ({
    data: { values: pickDots(chart) },
    mark,
    encoding: { x: x(chart), y: makeField(chart, 'y'), color: makeColor(chart), ...more(chart) },
  });

const lollipop: SpecMaker = (chart) => ({
  data: { values: pickDots(chart) },
  layer: [
    { mark: 'rule', encoding: { x: x(chart), y: makeField(chart, 'y'), y2: { datum: 0 } } },
    { mark: { type: 'point', filled: true, size: 90 }, encoding: { x: x(chart), y: makeField(chart, 'y') } },
  ],
});

/** How far apart points of one value are put, as a share of the room of their category. */
const JITTER = 0.7;

/** Points in strips: each category has a strip for each series, side by side. Points are moved a little aside so that none hides another. */
const dots: SpecMaker = (chart) => {
  if (chart.axes['x']?.kind !== 'categorical') return points({ type: 'point', filled: true, size: 60 })(chart);
  const splits = isSplit(chart) ? listSplits(chart) : [''];
  const room = 2 / splits.length;
  const values = pickDots(chart).map((point, index) => {
    const at = Math.max(0, splits.indexOf(point['s'] as string));
    // multiples of the golden ratio spread points evenly, and in the same way every time
    return { ...point, o: -1 + room * (at + 0.5) + room * JITTER * (((index * 0.618_034) % 1) - 0.5) };
  });
  return {
    data: { values },
    mark: { type: 'point', filled: true, size: values.length > 200 ? 18 : 45, opacity: 0.75 },
    encoding: {
      x: x(chart),
      xOffset: { field: 'o', type: 'quantitative', scale: { domain: [-1.1, 1.1] } },
      y: makeField(chart, 'y'),
      color: makeColor(chart),
    },
  };
};

/** How many slices a pie has at most. */
const MOST_SLICES = 500;

/** Keeps the largest slices, and one of all others. */
function gatherSmall(slices: ReadonlyMap<string, number>): [string, number][] {
  if (slices.size <= MOST_SLICES) return [...slices];
  const largest = [...slices].sort(([, a], [, b]) => b - a);
  const others = largest.slice(MOST_SLICES - 1).reduce((sum, [, value]) => sum + value, 0);
  return [...largest.slice(0, MOST_SLICES - 1), ['(others)', others]];
}

/** Slices, each with its share of the whole where there is room for it. */
const pie: SpecMaker = (chart) => {
  const { ground, text } = pickInk(chart.look ?? {});
  const sums = new Map<string, number>();
  for (const { labels, values } of flatten(chart)) {
    const name = printText(labels, '–');
    sums.set(name, (sums.get(name) ?? 0) + (Number(values) || 0));
  }
  const rows = gatherSmall(sums).map(([labels, values]) => ({ labels, values }));
  const total = rows.reduce((sum, { values }) => sum + values, 0);
  const shared = rows.map((row) => {
    const share = (100 * row.values) / total;
    return { ...row, p: share >= 4 ? `${share.toFixed(share < 10 ? 1 : 0)} %` : '' };
  });
  const theta = { field: 'values', type: 'quantitative', stack: true };
  const slices = { field: 'labels', type: 'nominal', title: chart.axes['labels']?.title ?? '' };
  return {
    data: { values: shared },
    layer: [
      { mark: { type: 'arc', stroke: ground }, encoding: { theta, color: slices } },
      ...[{ stroke: ground, strokeWidth: 4 }, {}].map((halo) => ({
        mark: { type: 'text', radius: { expr: 'min(width, height) / 2 - 45' }, fontSize: 14, fill: text, ...halo },
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
  bubble: points({ type: 'circle', opacity: 0.6 }, (chart): Spec => ({ size: makeField(chart, 'size') })),
  lollipop,
  pie,
};
