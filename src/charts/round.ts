import { readNumber, findExtent, pickFinite, pickDots, countPoints, pickNumbers, printText, nameAxis, type Chart } from './chart.ts';
import { pickInk } from './look.ts';
import { makeColor, makeLayer, makeTexts, FILLED_LEGEND, makeLegend, makeSplit, makeRampScale, type Spec, type SpecMaker } from './spec.ts';

/** Texts with a halo, so that they can be read over anything. */
const haloed = (chart: Chart, values: readonly object[], mark: object): Spec[] =>
  [{ stroke: pickInk(chart.look).ground, strokeWidth: 3 }, {}].map((halo) => makeTexts(values, { ...mark, ...halo }));

const HEIGHT = Math.sqrt(0.75);

/** A triangle of three shares: a corner is all of one part, the opposite side none of it. */
const ternary: SpecMaker = (chart) => {
  const ink = pickInk(chart.look);
  const place = (a: number, b: number, c: number) => ({ px: (b + 0.5 * c) / (a + b + c), py: (HEIGHT * c) / (a + b + c) });
  const values = pickDots(chart).flatMap((point) => {
    const [a, b, c] = [readNumber(point['x']), readNumber(point['y']), readNumber(point['z'])];
    return a + b + c > 0 && Math.min(a, b, c) >= 0 ? [{ ...point, ...place(a, b, c) }] : [];
  });
  const edge = [place(1, 0, 0), place(0, 1, 0), place(0, 0, 1), place(1, 0, 0)].map((corner, o) => ({ ...corner, o }));
  const lines = [0.2, 0.4, 0.6, 0.8].flatMap((share) =>
    [
      [place(share, 1 - share, 0), place(share, 0, 1 - share)],
      [place(1 - share, share, 0), place(0, share, 1 - share)],
      [place(1 - share, 0, share), place(0, 1 - share, share)],
    ].flatMap((ends, way) => ends.map((end, o) => ({ ...end, o, l: `${way} ${share}` }))),
  );
  // a tick stands outside the side where its line begins, in the direction of the line
  const ticks = [0.2, 0.4, 0.6, 0.8].flatMap((share) => {
    const t = `${Math.round(100 * share)} %`;
    return [
      { ...place(share, 0, 1 - share), dx: -0.055, dy: 0.03, t },
      { ...place(1 - share, share, 0), dx: 0, dy: -0.05, t },
      { ...place(0, 1 - share, share), dx: 0.06, dy: 0.02, t },
    ].map(({ px, py, dx, dy }) => ({ px: px + dx, py: py + dy, t }));
  });
  const label = (channel: string, px: number, py: number) => ({ px, py, t: nameAxis(chart, channel) });
  const corners = [label('x', 0, -0.11), label('y', 1, -0.11), label('z', 0.5, HEIGHT + 0.06)];
  return {
    layer: [
      makeLayer(lines, { type: 'line', color: ink.grid, strokeWidth: 1 }, { detail: { field: 'l', type: 'nominal' } }),
      makeLayer(edge, { type: 'line', color: ink.line }),
      makeTexts(ticks, { color: ink.text, fontSize: 10 }),
      makeTexts(corners, { fontWeight: 'bold' }),
      makeLayer(values, { type: 'point', filled: true, opacity: 0.7 }, { color: makeColor(chart), order: undefined }),
    ],
  };
};

const circle = (radius: number) =>
  Array.from({ length: 73 }, (_, step) => ({
    px: radius * Math.sin((step * Math.PI) / 36),
    py: radius * Math.cos((step * Math.PI) / 36),
    o: step,
  }));
const rings = (chart: Chart) =>
  [0.25, 0.5, 0.75, 1].map((radius) => makeLayer(circle(radius), { type: 'line', color: pickInk(chart.look).grid }));

/** A number with the three digits that there is room for beside a mark. */
export function printShort(value: number): string {
  const short = Number(value.toPrecision(3));
  return Math.abs(short) < 1e9 && Number.isInteger(short) ? short.toLocaleString('en') : String(short);
}

const mean = (values: readonly unknown[]): number => {
  const numbers = pickNumbers(values);
  return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
};

/**
 * One corner for each y column, scaled to its own range, which stands beside its name. With colours, one shape for each colour shows its means; else one for
 * each of at most twelve rows. A missing value is drawn at the least of its column.
 */
const radar: SpecMaker = (chart) => {
  const columns = [...new Set(chart.series.map(({ name }) => name))];
  const valuesOf = (name: string, group?: string) =>
    chart.series
      .filter((series) => series.name === name && (group === undefined || series.color === group))
      .flatMap(({ points }) => points['y'] ?? []);
  const corners = columns.map((name, index) => ({
    name,
    range: findExtent(pickNumbers(valuesOf(name))),
    angle: (2 * Math.PI * index) / columns.length,
  }));
  const groups = [...new Set(chart.series.flatMap(({ color: group }) => group ?? []))];
  const rows = Math.min(12, Math.max(0, ...chart.series.map(countPoints)));
  const asked =
    groups.length > 0
      ? groups.map((group) => ({ label: group, at: (name: string): unknown => mean(valuesOf(name, group)) }))
      : Array.from({ length: rows }, (_, row) => ({
          label: printText(chart.series[0]?.points['color']?.[row], String(row + 1)),
          at: (name: string): unknown => valuesOf(name)[row],
        }));
  const shapes = asked.flatMap(({ label, at }, shape) =>
    [...corners, ...corners.slice(0, 1)].map(({ name, range: [low, high], angle }, o) => {
      const value = readNumber(at(name));
      // a missing value opens the outline
      if (!Number.isFinite(value)) return { px: null, py: null, o, s: label, shape };
      const radius = 0.1 + (0.9 * (value - low)) / (high - low);
      return { px: radius * Math.sin(angle), py: radius * Math.cos(angle), o, s: label, shape };
    }),
  );
  const names = corners.map(({ name, range, angle }) => ({
    px: 1.15 * Math.sin(angle),
    py: 1.15 * Math.cos(angle),
    t: `${name} (${printShort(range[0])} – ${printShort(range[1])})`,
  }));
  return {
    layer: [
      ...rings(chart),
      makeLayer(
        shapes,
        { type: 'line', fillOpacity: 0.1 },
        {
          color: {
            ...makeSplit(
              chart,
              asked.map(({ label }) => label),
            ),
            title: groups.length > 0 ? (chart.axes['color']?.title ?? '') : '',
          },
          detail: { field: 'shape', type: 'nominal' },
        },
      ),
      makeLayer(names, { type: 'text' }, { text: { field: 't', type: 'nominal' } }),
    ],
  };
};

/** x is the angle in degrees, y the distance from the middle. */
const polar: SpecMaker = (chart) => {
  const most = chart.series.flatMap(({ points }) => pickNumbers(points['y'])).reduce((far, y) => Math.max(far, Math.abs(y)), 1e-12);
  const values = pickDots(chart)
    .map((point, o) => {
      const angle = (readNumber(point['x']) * Math.PI) / 180;
      const radius = readNumber(point['y']) / most;
      return { ...point, px: radius * Math.sin(angle), py: radius * Math.cos(angle), o };
    })
    .filter(({ px, py }) => Number.isFinite(px) && Number.isFinite(py));
  const marks = [0, 45, 90, 135, 180, 225, 270, 315].map((angle) => ({
    px: 1.1 * Math.sin((angle * Math.PI) / 180),
    py: 1.1 * Math.cos((angle * Math.PI) / 180),
    t: `${angle}°`,
  }));
  const ticks = [0.25, 0.5, 0.75, 1].map((share) => ({
    px: share * Math.sin(Math.PI / 8),
    py: share * Math.cos(Math.PI / 8),
    t: printShort(share * most),
  }));
  const below = [{ px: 0, py: -1.28, t: `${nameAxis(chart, 'y')} by ${nameAxis(chart, 'x')}, degrees` }];
  // a line joins the points from angle to angle; where several points share an angle it would only go to and fro
  const isLine = chart.series.every(({ points }) => new Set(points['x']).size === (points['x']?.length ?? 0));
  const mark = isLine ? { type: 'line', point: true } : { type: 'point', filled: true, opacity: 0.6, size: 24 };
  return {
    layer: [
      ...rings(chart),
      makeTexts(marks),
      makeTexts(below),
      makeLayer(values, mark, { color: makeColor(chart) }),
      ...haloed(chart, ticks, { fontSize: 10, color: pickInk(chart.look).text }),
    ],
  };
};

const SECTORS = 16;
const BANDS = 5;
const COMPASS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

/** How often the wind comes from each of sixteen directions (x, degrees clockwise from north), by its speed (y). */
const windRose: SpecMaker = (chart) => {
  const ink = pickInk(chart.look);
  const points = pickFinite(chart);
  const [low, high] = findExtent(points.map(({ y }) => y));
  const counts = Array.from({ length: SECTORS }, () => Array.from({ length: BANDS }, () => 0));
  for (const { x, y } of points) {
    const sector = counts[Math.round((((x % 360) + 360) % 360) / (360 / SECTORS)) % SECTORS] ?? [];
    const band = Math.min(BANDS - 1, Math.floor((BANDS * (y - low)) / (high - low)));
    sector[band] = (sector[band] ?? 0) + 1;
  }
  const shares = counts.map((bands) => bands.map((count) => (100 * count) / Math.max(1, points.length)));
  const longest = Math.max(...shares.map((bands) => bands.reduce((sum, share) => sum + share, 0)));
  // rings stand at round shares, at most five of them
  const step = [1, 2, 5, 10, 20, 25].find((each) => each * 5 >= longest) ?? 25;
  const outermost = step * Math.max(1, Math.ceil(longest / step));
  const at = (share: number, turn: number) => ({
    px: (share / outermost) * Math.sin(2 * Math.PI * turn),
    py: (share / outermost) * Math.cos(2 * Math.PI * turn),
  });
  const edgeOf = (band: number) => printShort(low + (band * (high - low)) / BANDS);
  const nameOf = (band: number) => `${edgeOf(band)} – ${edgeOf(band + 1)}`;
  const sectors = shares.flatMap((bands, sector) => {
    let inner = 0;
    return bands.flatMap((share, band) => {
      const outer = inner + share;
      const turns = Array.from({ length: 9 }, (_, part) => (sector + 0.84 * (part / 8 - 0.5)) / SECTORS);
      const outline = [...turns.map((turn) => at(inner, turn)), ...turns.reverse().map((turn) => at(outer, turn))];
      inner = outer;
      return share === 0 ? [] : outline.map((point, o) => ({ ...point, o, s: nameOf(band), p: `${sector}:${band}` }));
    });
  });
  const ringShares = Array.from({ length: outermost / step }, (_, index) => step * (index + 1));
  const outlines = ringShares.flatMap((share) => circle(share / outermost).map((point) => ({ ...point, ring: share })));
  const spokes = COMPASS.flatMap((_, index) => [0, outermost].map((share, o) => ({ ...at(share, index / 8), o, ring: index })));
  const letters = COMPASS.map((t, index) => ({ ...at(1.1 * outermost, index / 8), t }));
  // labels of the rings stand between two directions, where no sector covers them
  const ticks = ringShares.map((share) => ({ ...at(share, 1.5 / SECTORS), t: `${share} %` }));
  const below = [{ px: 0, py: -1.28, t: `${nameAxis(chart, 'x')}, degrees from north` }];
  const ring = { detail: { field: 'ring', type: 'nominal' } };
  const names = Array.from({ length: BANDS }, (_, band) => nameOf(band));
  return {
    layer: [
      makeLayer(outlines, { type: 'line', color: ink.grid, strokeWidth: 1 }, ring),
      makeLayer(spokes, { type: 'line', color: ink.grid, strokeWidth: 1 }, ring),
      makeLayer(
        sectors,
        { type: 'line', filled: true, interpolate: 'linear-closed', stroke: ink.ground, strokeWidth: 0.5 },
        {
          detail: { field: 'p', type: 'nominal' },
          color: {
            field: 's',
            type: 'ordinal',
            sort: names,
            scale: { domain: names, ...makeRampScale(chart) },
            title: nameAxis(chart, 'y'),
            legend: makeLegend(chart, FILLED_LEGEND),
          },
        },
      ),
      ...haloed(chart, ticks, { fontSize: 10, color: pickInk(chart.look).text }),
      makeTexts(letters, { fontWeight: 'bold', fontSize: 12 }),
      makeTexts(below),
    ],
  };
};

/** Charts without two straight axes: round ones and the triangle. */
export const round: Record<string, SpecMaker> = { ternary, radar, polar, 'wind-rose': windRose };
