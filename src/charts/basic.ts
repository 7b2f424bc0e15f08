import {
  findExtent,
  findStep,
  flatten,
  findLook,
  MOST_LINE_POINTS,
  nameLegend,
  pickDots,
  NO_VALUE,
  printText,
  readNumber,
  type Chart,
  type ChartSeries,
  type Point,
} from './chart.ts';
import { pickInk } from './look.ts';
import { byName, orderNames } from './order.ts';
import { makeColor, makeField, makeSplit, makeX, isSplit, listSplits, type Spec, type SpecMaker } from './spec.ts';

/** The round end of a stroke shows a value that has no neighbour to draw a line to. */
const STROKE = { strokeCap: 'round' };
/** Below an error bar such an end would not be seen. */
const LONE = { type: 'point', filled: true, size: 36, opacity: 1 };

const MARKS: Record<string, object> = {
  line: { type: 'line', ...STROKE },
  scatter: { type: 'point', filled: true, opacity: 0.7 },
  bar: { type: 'bar' },
  area: { type: 'area', opacity: 0.5, line: STROKE },
};

const CAP_PX = 8;

/**
 * A line from the lower to the upper end of each error, with a cap at both; points without an error have none. On a logarithmic axis an end of 0 or less has no
 * place: such a line goes to the edge of the plot.
 */
function errorBars(values: readonly Point[], place: object, y: object, { isLog, xOffset }: { isLog: boolean; xOffset: number }): Spec {
  const known = values.filter(({ error, y: at }) => typeof error === 'number' && Number.isFinite(error) && typeof at === 'number');
  const ends = known.map((point) => ({
    ...point,
    low: Number(point['y']) - Number(point['error']),
    high: Number(point['y']) + Number(point['error']),
  }));
  const endless = ends.filter(({ low }) => isLog && low <= 0);
  const whole = ends.filter(({ low }) => !isLog || low > 0);
  const cap = (field: string, of: readonly Point[]) => ({
    data: { values: of },
    mark: { type: 'tick', orient: 'horizontal', size: CAP_PX, thickness: 1.2, opacity: 1, xOffset },
    encoding: { ...place, y: { ...y, field } },
  });
  const line = (of: readonly Point[], y2: object) => ({
    data: { values: of },
    mark: { type: 'rule', strokeWidth: 1.2, xOffset },
    encoding: { ...place, y: { ...y, field: 'high' }, y2 },
  });
  return {
    layer: [
      line(whole, { field: 'low' }),
      cap('low', whole),
      cap('high', ends),
      ...(endless.length > 0 ? [line(endless, { value: 'height' })] : []),
    ],
  };
}

const isKnown = (point: Point | undefined): boolean => typeof point?.['y'] === 'number';

/** Marks the values of lines that have no neighbour, in the order of x. */
function markLone(values: readonly Point[]): readonly Point[] {
  const lines = [...Map.groupBy(values, ({ s }) => s).values()];
  const lone = lines.flatMap((line) => {
    line.sort((a, b) => readNumber(a['x']) - readNumber(b['x']));
    return line.filter((point, at) => isKnown(point) && !isKnown(line[at - 1]) && !isKnown(line[at + 1]));
  });
  const found = new Set(lone);
  return found.size === 0 ? values : values.map((point) => (found.has(point) ? { ...point, lone: true } : point));
}

const findKind = ({ traceType }: ChartSeries, usual: string): string => traceType ?? usual;

/** Adds up the values of each place; where bars are shaded, of each place and shade. */
function sumPlaces({ x = [], y = [], color }: ChartSeries['points'], areShaded: boolean): ChartSeries['points'] {
  const sums = new Map<string, { place: unknown; shade: unknown; sum: number | null }>();
  for (const [index, place] of x.entries()) {
    const shade = areShaded ? color?.[index] : undefined;
    const key = JSON.stringify([place, shade]);
    const found = sums.get(key) ?? { place, shade, sum: null };
    const value = y[index];
    if (typeof value === 'number') found.sum = (found.sum ?? 0) + value;
    sums.set(key, found);
  }
  const all = [...sums.values()];
  return {
    x: all.map(({ place }) => place),
    y: all.map(({ sum }) => sum),
    ...(areShaded && color ? { color: all.map(({ shade }) => shade) } : {}),
  };
}

const isShaded = ({ series }: Chart): boolean => series.some(({ points }) => points['color'] !== undefined);

/**
 * Gives the bars of a chart one value for each place: the sum of what stands there, which the title of the axis says. Bars of the same place would hide each
 * other or be left out of a picture of many. Where numbers or times colour the bars, parts of a bar keep their shades, unless they are too many.
 */
export function sumBars(chart: Chart): Chart {
  if (!Object.hasOwn(MARKS, chart.type)) return chart;
  const axes = { ...chart.axes };
  const sum = (areShaded: boolean) =>
    chart.series.map((one): ChartSeries => {
      const { x } = one.points;
      if (findKind(one, chart.type) !== 'bar' || x === undefined || new Set(x).size === x.length) return one;
      const side = one.axis === 'secondary' && chart.axes['y2'] ? 'y2' : 'y';
      const axis = chart.axes[side];
      if (axis) axes[side] = { ...axis, title: `sum of ${axis.title}` };
      return { ...one, points: sumPlaces(one.points, areShaded) };
    });
  const shaded = { ...chart, axes, series: sum(true) };
  // parts of a bar have no place on a logarithmic axis: the upper ones would seem smaller than they are
  const keepsShades =
    isShaded(chart) && findStep(shaded) === 1 && findLook(chart, 'y').scale !== 'log' && findLook(chart, 'y2').scale !== 'log';
  return keepsShades ? shaded : { ...shaded, series: sum(false) };
}

/** From a bar to the one beside it, and over all bars of one place at most, on an axis of numbers or times. */
const BESIDE_PX = 6;
const MOST_BESIDE_PX = 60;
/** How much of its step a bar fills there, and all bars of one place of the room up to the next place. */
const BAR_SHARE = 0.85;
const PLACE_SHARE = 0.8;

/** Pixels from one place of bars to the next in most cases, on an axis of numbers or times that is so wide. */
function findRoom(chart: Chart, width: number): number {
  const range = findLook(chart, 'x').range?.map(readNumber);
  const listPlaces = ({ points }: ChartSeries) => (chart.axes['x'] ? (points['x'] ?? []).map(readNumber) : [...(points['y'] ?? []).keys()]);
  const places = [...new Set(chart.series.flatMap(listPlaces).filter(Number.isFinite))].sort((a, b) => a - b);
  const gaps = places.slice(1).map((place, index) => place - (places[index] ?? place));
  const usual = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)];
  const [from = 0, to = 0] = range ?? findExtent(places);
  return usual === undefined ? width : (width * usual) / (to - from);
}

/** Lines, bars, points and areas; each series may be of another kind and stand on the second axis. Bars of several series stand side by side. */
const traces =
  (usual: string): SpecMaker =>
  (chart, { width }) => {
    const kinds = new Set(chart.series.map((one) => findKind(one, usual)));
    const isDual = chart.axes['y2'] !== undefined;
    const bars = chart.series.filter((one) => findKind(one, usual) === 'bar').map((one) => nameLegend(chart, one));
    const names = [...new Set(bars)].sort(byName.compare);
    const isBeside = names.length > 1;
    const hasNames = chart.axes['x']?.kind === 'categorical';
    const room = isBeside && !hasNames ? PLACE_SHARE * findRoom(chart, width) : MOST_BESIDE_PX;
    const step = Math.min(BESIDE_PX, Math.max(1, Math.min(MOST_BESIDE_PX, room) / names.length));
    const asideOf = (one: ChartSeries) => (names.indexOf(nameLegend(chart, one)) - (names.length - 1) / 2) * step;
    const layersOn = (axis: 'primary' | 'secondary') =>
      [...kinds].flatMap((kind) => {
        const series = chart.series.filter((one) => findKind(one, usual) === kind && (!isDual || (one.axis ?? 'primary') === axis));
        if (series.length === 0) return [];
        const shown = isDual && axis === 'secondary' ? 'y2' : 'y';
        const part: Chart = { ...chart, series, axes: { ...chart.axes, y: chart.axes[shown] } };
        const look = findLook(chart, shown);
        const plain = makeField(part, 'y', look);
        const isTall = kind === 'bar' || kind === 'area';
        const y = {
          ...plain,
          // the height of a bar or an area says how much: it begins at zero, and heights of two series are not added
          ...(isTall && look.scale !== 'log' && !look.range ? { scale: { ...plain.scale, zero: true } } : {}),
          ...(isTall ? { stack: kind === 'bar' && isShaded(part) ? 'zero' : null } : {}),
          ...(axis === 'secondary' ? { axis: { ...plain.axis, orient: 'right' } } : {}),
        };
        const place = { x: makeX(chart), ...(kind === 'bar' && isBeside && hasNames ? { xOffset: makeSplit(chart) } : {}) };
        const most = kind === 'line' || kind === 'area' ? MOST_LINE_POINTS : undefined;
        const draw = (points: readonly Point[], more: { xOffset?: number; size?: number }) => {
          const hasErrors = series.some(({ points }) => points['error'] !== undefined);
          const values = kind === 'line' ? markLone(points) : points;
          const lone = { transform: [{ filter: 'datum.lone' }], mark: LONE, encoding: { ...place, y, color: makeColor(chart) } };
          const around = { isLog: look.scale === 'log', xOffset: more.xOffset ?? 0 };
          return {
            data: { values },
            layer: [
              { mark: { ...(MARKS[kind] ?? MARKS['line']), ...more }, encoding: { ...place, y, color: makeColor(chart) } },
              ...(values === points ? [] : [lone]),
              ...(hasErrors ? [errorBars(values, kind === 'bar' ? place : { ...place, color: makeColor(chart) }, y, around)] : []),
            ],
          };
        };
        const values = pickDots(part, { most });
        if (kind !== 'bar' || !isBeside || hasNames) return [draw(values, {})];
        // bars have no room of their own on an axis of numbers or times, and are moved aside by hand
        return series.map((one) => {
          const own = values.filter(({ s }) => s === nameLegend(part, one));
          return draw(own, { xOffset: asideOf(one), size: step * BAR_SHARE });
        });
      });
    if (!isDual) return { layer: layersOn(chart.series.every(({ axis }) => axis === 'secondary') ? 'secondary' : 'primary') };
    return { layer: [{ layer: layersOn('primary') }, { layer: layersOn('secondary') }], resolve: { scale: { y: 'independent' } } };
  };

const points =
  (mark: object, more: (chart: Chart) => object = () => ({})): SpecMaker =>
  (chart) => ({
    data: { values: pickDots(chart) },
    mark,
    encoding: { x: makeX(chart), y: makeField(chart, 'y'), color: makeColor(chart), ...more(chart) },
  });

const lollipop: SpecMaker = (chart) => ({
  data: { values: pickDots(chart) },
  layer: [
    {
      mark: 'rule',
      // a logarithmic axis has no zero
      encoding: {
        x: makeX(chart),
        y: makeField(chart, 'y'),
        y2: findLook(chart, 'y').scale === 'log' ? { value: 'height' } : { datum: 0 },
      },
    },
    { mark: { type: 'point', filled: true, size: 90 }, encoding: { x: makeX(chart), y: makeField(chart, 'y') } },
  ],
});

/** How far apart points of one value are put, as a share of the room of their category. */
const JITTER = 0.7;

/** Points in strips: each category has a strip for each series, side by side. Points are moved a little aside so that none hides another. */
const dots: SpecMaker = (chart, size) => {
  if (chart.axes['x']?.kind !== 'categorical') return points({ type: 'point', filled: true, size: 60 })(chart, size);
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
      x: makeX(chart),
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

/** The sum of each slice. One below zero has no share of a whole, and is not drawn. */
export function sumSlices(chart: Chart): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, values } of flatten(chart)) {
    const name = printText(labels, NO_VALUE);
    sums.set(name, (sums.get(name) ?? 0) + (Number(values) || 0));
  }
  return sums;
}

/** Slices, each with its share of the whole where there is room for it. */
const pie: SpecMaker = (chart) => {
  const { ground, text } = pickInk(chart.look);
  const slices = gatherSmall(new Map([...sumSlices(chart)].filter(([, value]) => value >= 0)));
  const total = slices.reduce((sum, [, value]) => sum + value, 0);
  const shared = slices
    .toSorted(([a], [b]) => byName.compare(a, b))
    .map(([labels, values], o) => {
      const share = (100 * values) / total;
      return { labels, values, o, p: share >= 4 ? `${share.toFixed(share < 10 ? 1 : 0)} %` : '' };
    });
  const theta = { field: 'values', type: 'quantitative', stack: true };
  const order = { field: 'o', type: 'quantitative' };
  const scale = orderNames(slices.map(([name]) => name));
  const color = { field: 'labels', type: 'nominal', title: chart.axes['labels']?.title ?? '', ...(scale && { scale }) };
  return {
    data: { values: shared },
    layer: [
      { mark: { type: 'arc', stroke: ground }, encoding: { theta, order, color } },
      ...[{ stroke: ground, strokeWidth: 4 }, {}].map((halo) => ({
        mark: { type: 'text', radius: { expr: 'min(width, height) / 2 - 45' }, fontSize: 14, fill: text, ...halo },
        encoding: { theta, order, detail: color, text: { field: 'p', type: 'nominal' } },
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
