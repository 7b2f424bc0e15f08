import { findExtent, pickFinite, countPoints, pickNumbers, nameAxis, type Chart } from './chart.ts';
import { drawHeatmap } from './heatmap.ts';
import { pickInk } from './look.ts';
import { printShort, round } from './round.ts';
import { makeColor, makeLayer, makeField, makeLegend, makeRampScale, type SpecMaker } from './spec.ts';

interface Grid {
  x: number;
  x2: number;
  y: number;
  y2: number;
  v: number;
}

const CELLS = 60;
const BAND_COUNT = 9;

/** A value for every cell of a fine grid over the points. */
function grid(
  points: readonly { x: number; y: number; z: number }[],
  valueAt: (x: number, y: number, spread: [number, number]) => number,
): Grid[] {
  const [west, east] = findExtent(points.map(({ x }) => x));
  const [south, north] = findExtent(points.map(({ y }) => y));
  const [width, height] = [(east - west) / CELLS, (north - south) / CELLS];
  return Array.from({ length: CELLS * CELLS }, (_, cell) => {
    const [column, row] = [cell % CELLS, Math.floor(cell / CELLS)];
    const [x, y] = [west + column * width, south + row * height];
    // each cell reaches a little over the next, or there would be seams between them
    return { x, x2: x + 1.15 * width, y, y2: y + 1.15 * height, v: valueAt(x + width / 2, y + height / 2, [east - west, north - south]) };
  });
}

const banded = (chart: Chart, values: Grid[], valueTitle: string) => {
  const axis = (channel: string) => ({
    field: channel,
    type: chart.axes[channel]?.kind === 'temporal' ? 'temporal' : 'quantitative',
    title: nameAxis(chart, channel),
    scale: { zero: false, nice: false, ...(chart.axes[channel]?.kind === 'temporal' ? { type: 'utc' } : {}) },
    axis: makeField(chart, channel).axis,
  });
  return {
    data: { values },
    mark: { type: 'rect', clip: true },
    encoding: {
      x: axis('x'),
      x2: { field: 'x2' },
      y: axis('y'),
      y2: { field: 'y2' },
      color: {
        field: 'v',
        type: 'quantitative',
        title: valueTitle,
        scale: { type: 'quantize', ...makeRampScale(chart, BAND_COUNT) },
        legend: makeLegend(chart, { format: '.3~g' }),
      },
    },
  };
};

interface Place {
  x: number;
  y: number;
  z: number;
  /** How many points lie here. */
  count: number;
}

const MOST_PLACES = 1_000;
const SIDE = 32;

/** Gathers more than a thousand points into at most 32 by 32 places, each the mean of its points: what is drawn of them is a grid of 60 by 60. */
function gatherPlaces(points: readonly { x: number; y: number; z: number }[]): Place[] {
  if (points.length <= MOST_PLACES) return points.map((point) => ({ ...point, count: 1 }));
  const [west, east] = findExtent(points.map(({ x }) => x));
  const [south, north] = findExtent(points.map(({ y }) => y));
  const part = (value: number, low: number, high: number) => Math.min(SIDE - 1, Math.floor((SIDE * (value - low)) / (high - low)));
  const places = new Map<number, Place>();
  for (const { x, y, z } of points) {
    const key = part(x, west, east) * SIDE + part(y, south, north);
    const place = places.get(key) ?? { x: 0, y: 0, z: 0, count: 0 };
    places.set(key, { x: place.x + x, y: place.y + y, z: place.z + z, count: place.count + 1 });
  }
  return Array.from(places.values(), ({ x, y, z, count }) => ({ x: x / count, y: y / count, z: z / count, count }));
}

/** Bands of equal value, interpolated by inverse distance. */
const contour: SpecMaker = (chart) => {
  const points = gatherPlaces(pickFinite(chart));
  const values = grid(points, (x, y, [width, height]) => {
    let [sum, weight] = [0, 0];
    for (const point of points) {
      const near = 1 / (((point.x - x) / width) ** 2 + ((point.y - y) / height) ** 2 + 1e-4);
      sum += near * point.z;
      weight += near;
    }
    return weight === 0 ? 0 : sum / weight;
  });
  return banded(chart, values, nameAxis(chart, 'z'));
};

/** Density of the points, smoothed by a Gaussian of a fifteenth of the range. It has no unit: it is a share of the greatest density. */
const density2d: SpecMaker = (chart) => {
  const points = gatherPlaces(pickFinite(chart));
  const cells = grid(points, (x, y, [width, height]) =>
    points.reduce((sum, point) => sum + point.count * Math.exp(-112.5 * (((point.x - x) / width) ** 2 + ((point.y - y) / height) ** 2)), 0),
  );
  const densest = Math.max(1e-12, ...cells.map(({ v }) => v));
  const shares = cells.map((cell) => ({ ...cell, v: cell.v / densest }));
  return banded(chart, shares, 'relative density');
};

const MOST_CURVES = 9;

/** Gathers values into levels. Up to twelve different values stay as they are; of more, each becomes the middle of one of seven equal parts of the range. */
function levels(values: readonly number[]): (value: number) => number {
  const own = new Set(values);
  if (own.size <= MOST_CURVES + 3) return (value) => value;
  const [low, high] = findExtent(values);
  const width = (high - low) / 7;
  return (value) => low + width * (Math.min(6, Math.floor((value - low) / width)) + 0.5);
}

/**
 * A surface seen from the side: curves of equal x and curves of equal y meet at mean heights (z). A larger y is moved further aside, by half of the width at
 * most. Rows that are no grid are gathered into one, of at most a dozen curves each way.
 */
const carpet: SpecMaker = (chart) => {
  const points = pickFinite(chart);
  const [levelX, levelY] = [levels(points.map(({ x }) => x)), levels(points.map(({ y }) => y))];
  const knots = new Map<string, { a: number; b: number; sum: number; count: number }>();
  for (const { x, y, z } of points) {
    const [a, b] = [levelX(x), levelY(y)];
    const knot = knots.get(`${a} ${b}`) ?? { a, b, sum: 0, count: 0 };
    knots.set(`${a} ${b}`, { a, b, sum: knot.sum + z, count: knot.count + 1 });
  }
  const [x0, x1] = findExtent([...knots.values()].map(({ a }) => a));
  const [y0, y1] = findExtent([...knots.values()].map(({ b }) => b));
  const placed = [...knots.values()].map(({ a, b, sum, count }) => ({
    px: (a - x0) / (x1 - x0) + (0.5 * (b - y0)) / (y1 - y0),
    py: sum / count,
    a,
    b,
  }));
  const names = { x: `equal ${nameAxis(chart, 'x')}`, y: `equal ${nameAxis(chart, 'y')}` };
  const curve = (along: 'a' | 'b', c: string) => placed.map((knot) => ({ ...knot, c, d: knot[along], o: along === 'a' ? knot.b : knot.a }));
  const y = { field: 'py', type: 'quantitative', title: nameAxis(chart, 'z'), scale: { zero: false } };
  const shared = { y, color: { field: 'c', type: 'nominal', title: '', scale: { domain: [names.x, names.y] } } };
  const lines = { ...shared, detail: { field: 'd', type: 'nominal' } };
  // each curve is named where it ends: those of equal x at the largest y, those of equal y at the largest x
  const ends = (along: 'a' | 'b', channel: 'x' | 'y') =>
    [...new Set(placed.map((knot) => knot[along]))].flatMap((level) => {
      const [last] = placed.filter((knot) => knot[along] === level).sort((p, q) => q.px - p.px);
      return last ? [{ ...last, t: printShort(level), c: names[channel] }] : [];
    });
  const text = { ...shared, text: { field: 't', type: 'nominal' }, order: undefined };
  return {
    layer: [
      makeLayer(curve('a', names.x), { type: 'line', strokeWidth: 1.5 }, lines),
      makeLayer(curve('b', names.y), { type: 'line', strokeWidth: 1.5 }, lines),
      makeLayer(placed, { type: 'point', filled: true, size: 20, color: pickInk(chart.look).text }, { y, order: undefined }),
      makeLayer(ends('a', 'x'), { type: 'text', dy: -10, fontSize: 10 }, text),
      makeLayer(ends('b', 'y'), { type: 'text', dx: 6, align: 'left', fontSize: 10 }, text),
    ],
  };
};

/** How many rows of each colour parallel coordinates show at most. */
export const MOST_PARALLEL = 500;

/** One line for each row, across all y, every y scaled to its own range. A missing value is a gap. */
const parallel: SpecMaker = (chart) => {
  const names = [...new Set(chart.series.map(({ name }) => name))];
  // one range for all colours, or they could not be compared
  const ranges = new Map(
    names.map((name) => [
      name,
      findExtent(chart.series.filter((series) => series.name === name).flatMap(({ points }) => pickNumbers(points['y']))),
    ]),
  );
  const values = chart.series.flatMap(({ name, points, color: group }) => {
    const [low, high] = ranges.get(name) ?? [0, 1];
    return (points['y'] ?? []).slice(0, MOST_PARALLEL).map((value, row) => ({
      n: name,
      row: `${group ?? ''} ${row}`,
      v: typeof value === 'number' ? (value - low) / (high - low) : null,
      color: points['color']?.[row] ?? null,
      s: group ?? '',
    }));
  });
  const rows = Math.max(...chart.series.map(countPoints));
  const colors = (chart.whole ?? chart).series.map(({ color: group }) => group ?? '');
  return {
    data: { values },
    mark: { type: 'line', opacity: rows > 100 ? 0.2 : 0.5 },
    encoding: {
      x: { field: 'n', type: 'nominal', scale: { domain: names }, title: null, axis: { labelAngle: 0, labelLimit: 180 } },
      y: { field: 'v', type: 'quantitative', title: 'share of the range' },
      detail: { field: 'row', type: 'nominal' },
      color: { ...makeColor(chart, colors), legend: makeLegend(chart, { symbolOpacity: 1 }) },
    },
  };
};

/** Finds how two columns go together, by the rows that have a number in both: Pearson's r, NaN where a column has equal values only. */
export function correlate(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  let [count, meanA, meanB] = [0, 0, 0];
  let [sum, squaresA, squaresB] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [p, q] = [Number(a[index] ?? NaN), Number(b[index] ?? NaN)];
    if (!Number.isFinite(p) || !Number.isFinite(q)) continue;
    count += 1;
    const [fromA, fromB] = [p - meanA, q - meanB];
    meanA += fromA / count;
    meanB += fromB / count;
    sum += fromA * (q - meanB);
    squaresA += fromA * (p - meanA);
    squaresB += fromB * (q - meanB);
  }
  return sum / Math.sqrt(squaresA * squaresB);
}

const correlations: SpecMaker = (chart) => {
  const numbers = new Map(chart.series.map((one) => [one, Float64Array.from(one.points['y'] ?? [], (value) => Number(value ?? NaN))]));
  const values = chart.series.flatMap((a) =>
    chart.series.map((b) => {
      const r = a === b ? 1 : correlate(numbers.get(a) ?? [], numbers.get(b) ?? []);
      // a column of equal values goes with nothing
      return { a: a.name, b: b.name, r: Number.isFinite(r) ? r : null };
    }),
  );
  const encoding = {
    x: { field: 'a', type: 'nominal', title: null, sort: null, axis: { labelAngle: values.length > 36 ? -40 : 0 } },
    y: { field: 'b', type: 'nominal', title: null, sort: null },
  };
  const { colors = [] } = chart.look ?? {};
  const asked = colors.length > 1 ? { range: colors } : { scheme: 'redblue' };
  return {
    data: { values },
    layer: [
      {
        mark: 'rect',
        encoding: { ...encoding, color: { field: 'r', type: 'quantitative', title: 'r', scale: { domain: [-1, 1], ...asked } } },
      },
      {
        mark: { type: 'text', fontSize: 14 },
        encoding: {
          ...encoding,
          text: { condition: { test: 'datum.r === null', value: '–' }, field: 'r', type: 'quantitative', format: '.2f' },
          color: {
            condition: [
              { test: 'datum.r === null', value: pickInk(chart.look).text },
              { test: 'abs(datum.r) > 0.6', value: 'white' },
            ],
            value: 'black',
          },
        },
      },
    ],
  };
};

export const scientific: Record<string, SpecMaker> = {
  heatmap: drawHeatmap,
  contour,
  'density-plot-2d': density2d,
  carpet,
  'parallel-coordinates': parallel,
  ...round,
  'correlation-matrix': correlations,
};
