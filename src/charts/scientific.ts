import { extent, flatten, lengthOf, numbersOf, textOf, type Chart } from './chart.ts';
import { color, drawn, field, type SpecMaker } from './spec.ts';

const title = (chart: Chart, channel: string) => chart.axes[channel]?.title ?? channel;
// what is not there is no number; Number(null) would be 0
const asNumber = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN);

interface Grid {
  x: number;
  x2: number;
  y: number;
  y2: number;
  v: number;
}

/** A value for every cell of a 40 by 40 grid over the points. */
function grid(
  points: readonly { x: number; y: number; z: number }[],
  valueAt: (x: number, y: number, spread: [number, number]) => number,
): Grid[] {
  const [west, east] = extent(points.map(({ x }) => x));
  const [south, north] = extent(points.map(({ y }) => y));
  const [width, height] = [(east - west) / 40, (north - south) / 40];
  return Array.from({ length: 1_600 }, (_, cell) => {
    const [column, row] = [cell % 40, Math.floor(cell / 40)];
    const [x, y] = [west + column * width, south + row * height];
    return { x, x2: x + width, y, y2: y + height, v: valueAt(x + width / 2, y + height / 2, [east - west, north - south]) };
  });
}

const finite = (chart: Chart, most: number) =>
  flatten(chart, most)
    .map((point) => ({ x: asNumber(point['x']), y: asNumber(point['y']), z: point['z'] === undefined ? 0 : asNumber(point['z']) }))
    .filter(({ x, y, z }) => Number.isFinite(x) && Number.isFinite(y) && Number.isFinite(z));

const banded = (chart: Chart, values: Grid[], valueTitle: string) => {
  const axis = (channel: string) => ({
    field: channel,
    type: chart.axes[channel]?.kind === 'temporal' ? 'temporal' : 'quantitative',
    title: title(chart, channel),
    scale: { zero: false },
  });
  return {
    data: { values },
    mark: { type: 'rect' },
    encoding: {
      x: axis('x'),
      x2: { field: 'x2' },
      y: axis('y'),
      y2: { field: 'y2' },
      color: { field: 'v', type: 'quantitative', title: valueTitle, scale: { type: 'quantize', scheme: 'viridis' } },
    },
  };
};

/** Bands of equal value, interpolated by inverse distance. */
const contour: SpecMaker = (chart) => {
  const points = finite(chart, 1_000);
  const values = grid(points, (x, y, [width, height]) => {
    let [sum, weight] = [0, 0];
    for (const point of points) {
      const near = 1 / (((point.x - x) / width) ** 2 + ((point.y - y) / height) ** 2 + 1e-4);
      sum += near * point.z;
      weight += near;
    }
    return weight === 0 ? 0 : sum / weight;
  });
  return banded(chart, values, title(chart, 'z'));
};

/** How many points are about, smoothed by a Gaussian of a fifteenth of the range. */
const density2d: SpecMaker = (chart) => {
  const points = finite(chart, 1_000);
  return banded(
    chart,
    grid(points, (x, y, [width, height]) =>
      points.reduce((sum, point) => sum + Math.exp(-112.5 * (((point.x - x) / width) ** 2 + ((point.y - y) / height) ** 2)), 0),
    ),
    'density',
  );
};

/** A time as the name of a row or column of cells: its day, and its minute where times are not all midnights. */
const named = (values: readonly unknown[]) => {
  const hasClock = values.some((value) => typeof value === 'string' && !value.includes('T00:00:00'));
  return (value: unknown) => (typeof value === 'string' ? value.slice(0, hasClock ? 16 : 10).replace('T', ' ') : value);
};

/** Cells side by side, whatever lies between their values: on a scale of time they would have no extent. */
const heatmap: SpecMaker = (chart) => {
  const points = flatten(chart, 20_000);
  const isTime = (channel: string) => chart.axes[channel]?.kind === 'temporal';
  const label = (channel: string) => (isTime(channel) ? named(points.map((point) => point[channel])) : (value: unknown) => value);
  const [x, y] = [label('x'), label('y')];
  const side = (channel: string) => ({ ...field(chart, channel), type: 'ordinal', scale: {}, axis: { labelOverlap: true } });
  return {
    data: { values: points.map((point) => ({ ...point, x: x(point['x']), y: y(point['y']) })) },
    mark: 'rect',
    encoding: {
      x: side('x'),
      y: { ...side('y'), sort: 'descending' },
      color: { field: 'z', type: 'quantitative', aggregate: 'mean', title: title(chart, 'z'), scale: { scheme: 'viridis' } },
    },
  };
};

/** Curves of equal x and of equal y, drawn aslant: the horizontal place is x and half of y. */
const carpet: SpecMaker = (chart) => {
  const points = finite(chart, 2_000);
  const [x0, x1] = extent(points.map(({ x }) => x));
  const [y0, y1] = extent(points.map(({ y }) => y));
  const placed = points.map(({ x, y, z }) => ({ px: (x - x0) / (x1 - x0) + (0.5 * (y - y0)) / (y1 - y0), py: z, a: x, b: y }));
  const encoding = (detail: string) => ({
    y: { field: 'py', type: 'quantitative', title: title(chart, 'z'), scale: { zero: false } },
    order: { field: 'px', type: 'quantitative' },
    detail: { field: detail, type: 'nominal' },
  });
  return {
    layer: [
      drawn(placed, { type: 'line', color: '#1f77b4' }, encoding('a')),
      drawn(placed, { type: 'line', color: '#d62728' }, encoding('b')),
      drawn(placed, { type: 'point', filled: true, color: '#333' }, encoding('a')),
    ],
  };
};

const ternary: SpecMaker = (chart) => {
  const values = flatten(chart).flatMap((point) => {
    const [a, b, c] = [asNumber(point['x']), asNumber(point['y']), asNumber(point['z'])];
    const sum = a + b + c;
    return sum > 0 ? [{ ...point, px: (b + 0.5 * c) / sum, py: (Math.sqrt(0.75) * c) / sum }] : [];
  });
  const corners = [
    { px: 0, py: 0, o: 0, t: title(chart, 'x') },
    { px: 1, py: 0, o: 1, t: title(chart, 'y') },
    { px: 0.5, py: Math.sqrt(0.75), o: 2, t: title(chart, 'z') },
    { px: 0, py: 0, o: 3, t: '' },
  ];
  return {
    layer: [
      drawn(corners, { type: 'line', color: '#888' }),
      drawn(corners, { type: 'text', dy: -10, fontWeight: 'bold' }, { text: { field: 't', type: 'nominal' } }),
      drawn(values, { type: 'point', filled: true }, { color: color(chart) }),
    ],
  };
};

const circle = (radius: number) =>
  Array.from({ length: 73 }, (_, step) => ({
    px: radius * Math.sin((step * Math.PI) / 36),
    py: radius * Math.cos((step * Math.PI) / 36),
    o: step,
  }));
const rings = () => [0.25, 0.5, 0.75, 1].map((radius) => drawn(circle(radius), { type: 'line', color: '#ddd' }));

const mean = (values: readonly unknown[]): number => {
  const numbers = numbersOf(values);
  return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
};

/**
 * One corner for each y, scaled to its own range. With colours one shape for each, of its means; else one for each row, of at most twelve.
 * What is missing is drawn at its least.
 */
const radar: SpecMaker = (chart) => {
  const columns = [...new Set(chart.series.map(({ name }) => name))];
  const valuesOf = (name: string, group?: string) =>
    chart.series
      .filter((series) => series.name === name && (group === undefined || series.color === group))
      .flatMap(({ points }) => points['y'] ?? []);
  const corners = columns.map((name, index) => ({
    name,
    range: extent(numbersOf(valuesOf(name))),
    angle: (2 * Math.PI * index) / columns.length,
  }));
  const groups = [...new Set(chart.series.flatMap(({ color: group }) => group ?? []))];
  const rows = Math.min(12, Math.max(0, ...chart.series.map(lengthOf)));
  const asked =
    groups.length > 0
      ? groups.map((group) => ({ label: group, at: (name: string): unknown => mean(valuesOf(name, group)) }))
      : Array.from({ length: rows }, (_, row) => ({
          label: textOf(chart.series[0]?.points['color']?.[row], String(row + 1)),
          at: (name: string): unknown => valuesOf(name)[row],
        }));
  const shapes = asked.flatMap(({ label, at }) =>
    [...corners, ...corners.slice(0, 1)].map(({ name, range: [low, high], angle }, o) => {
      const value = asNumber(at(name));
      const radius = 0.1 + (0.9 * ((Number.isFinite(value) ? value : low) - low)) / (high - low);
      return { px: radius * Math.sin(angle), py: radius * Math.cos(angle), o, s: label };
    }),
  );
  const names = corners.map(({ name, angle }) => ({ px: 1.15 * Math.sin(angle), py: 1.15 * Math.cos(angle), t: name }));
  return {
    layer: [
      ...rings(),
      drawn(shapes, { type: 'line', fillOpacity: 0.1 }, { color: { field: 's', type: 'nominal', title: '' } }),
      drawn(names, { type: 'text' }, { text: { field: 't', type: 'nominal' } }),
    ],
  };
};

/** x is the angle in degrees, y the distance from the middle. */
const polar: SpecMaker = (chart) => {
  const most = Math.max(1e-12, ...numbersOf(chart.series.flatMap(({ points }) => points['y'] ?? [])).map(Math.abs));
  const values = flatten(chart)
    .map((point, o) => {
      const angle = (asNumber(point['x']) * Math.PI) / 180;
      const radius = asNumber(point['y']) / most;
      return { ...point, px: radius * Math.sin(angle), py: radius * Math.cos(angle), o };
    })
    .filter(({ px, py }) => Number.isFinite(px) && Number.isFinite(py));
  const marks = [0, 90, 180, 270].map((angle) => ({
    px: 1.08 * Math.sin((angle * Math.PI) / 180),
    py: 1.08 * Math.cos((angle * Math.PI) / 180),
    t: `${angle}°`,
  }));
  return {
    layer: [
      ...rings(),
      drawn(marks, { type: 'text' }, { text: { field: 't', type: 'nominal' } }),
      drawn(values, { type: 'line', point: true }, { color: color(chart) }),
    ],
  };
};

/** How often the wind comes from each of sixteen directions (x, degrees), by its speed (y). */
const windRose: SpecMaker = (chart) => {
  const points = finite(chart, 20_000);
  const [low, high] = extent(points.map(({ y }) => y));
  const counts = new Map<string, number>();
  for (const { x, y } of points) {
    const key = `${Math.round((((x % 360) + 360) % 360) / 22.5) % 16}:${Math.min(4, Math.floor((5 * (y - low)) / (high - low)))}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const most = Math.max(
    1,
    ...Array.from({ length: 16 }, (_, sector) => [0, 1, 2, 3, 4].reduce((sum, band) => sum + (counts.get(`${sector}:${band}`) ?? 0), 0)),
  );
  const values = Array.from({ length: 16 }, (_, sector) => {
    let inner = 0;
    return [0, 1, 2, 3, 4].map((band) => {
      const outer = inner + (counts.get(`${sector}:${band}`) ?? 0) / most;
      const from = low + (band * (high - low)) / 5;
      const arc = {
        t: (sector - 0.45) * (Math.PI / 8),
        t2: (sector + 0.45) * (Math.PI / 8),
        r: inner * 170,
        r2: outer * 170,
        s: `≥ ${from.toPrecision(3)}`,
        band,
      };
      inner = outer;
      return arc;
    });
  }).flat();
  return {
    data: { values },
    mark: { type: 'arc' },
    encoding: {
      theta: { field: 't', type: 'quantitative', scale: null },
      theta2: { field: 't2' },
      radius: { field: 'r2', type: 'quantitative', scale: null },
      radius2: { field: 'r' },
      color: { field: 's', type: 'nominal', sort: { field: 'band' }, title: title(chart, 'y') },
    },
  };
};

/** One line for each row, across all y, every y scaled to its own range. */
const parallel: SpecMaker = (chart) => {
  const rows = Math.min(500, Math.max(0, ...chart.series.map(lengthOf)));
  const values = chart.series.flatMap(({ name, points, color: group }, o) => {
    const [low, high] = extent(numbersOf(points['y']));
    return Array.from({ length: rows }, (_, row) => ({
      n: name,
      o,
      row: `${group ?? ''}${row}`,
      v: (Number(points['y']?.[row] ?? low) - low) / (high - low),
      color: points['color']?.[row] ?? null,
      s: group ?? '',
    }));
  });
  return {
    data: { values },
    mark: { type: 'line', opacity: 0.5 },
    encoding: {
      x: { field: 'n', type: 'nominal', sort: { field: 'o' }, title: null },
      y: { field: 'v', type: 'quantitative', title: 'share of the range' },
      detail: { field: 'row', type: 'nominal' },
      color: color(chart),
    },
  };
};

export const pearson = (a: readonly unknown[], b: readonly unknown[]): number => {
  const pairs = a
    .map((value, index) => [Number(value ?? NaN), Number(b[index] ?? NaN)] as const)
    .filter(([p, q]) => Number.isFinite(p) && Number.isFinite(q));
  const mean = (pick: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[pick], 0) / Math.max(1, pairs.length);
  const [ma, mb] = [mean(0), mean(1)];
  const sum = (of: (p: number, q: number) => number) => pairs.reduce((total, [p, q]) => total + of(p - ma, q - mb), 0);
  return sum((p, q) => p * q) / Math.sqrt(sum((p) => p * p) * sum((_, q) => q * q));
};

const correlations: SpecMaker = (chart) => {
  const values = chart.series.flatMap((a) =>
    chart.series.map((b) => ({ a: a.name, b: b.name, r: a === b ? 1 : pearson(a.points['y'] ?? [], b.points['y'] ?? []) })),
  );
  const encoding = {
    x: { field: 'a', type: 'nominal', title: null, sort: null },
    y: { field: 'b', type: 'nominal', title: null, sort: null },
  };
  return {
    data: { values },
    layer: [
      {
        mark: 'rect',
        encoding: { ...encoding, color: { field: 'r', type: 'quantitative', title: 'r', scale: { domain: [-1, 1], scheme: 'redblue' } } },
      },
      { mark: 'text', encoding: { ...encoding, text: { field: 'r', type: 'quantitative', format: '.2f' } } },
    ],
  };
};

export const scientific: Record<string, SpecMaker> = {
  heatmap,
  contour,
  'density-plot-2d': density2d,
  carpet,
  ternary,
  'parallel-coordinates': parallel,
  'wind-rose': windRose,
  radar,
  polar,
  'correlation-matrix': correlations,
};
