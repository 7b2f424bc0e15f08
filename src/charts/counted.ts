/** Charts that count how many values lie in each part of a range. */
import { findExtent, findLook, findRangeOfY, nameValues, pickFinite } from './chart.ts';
import type { AxisKind } from './plotted.model.ts';
import { listSamples } from './samples.ts';
import { findSharer, makeField, makeSeriesColor, type SpecMaker } from './spec.ts';

/** 0.3 / 0.1 is a little less than 3: what numbers of 16 digits may lack, as a share of the largest. */
const ROUNDING = 4 * Number.EPSILON;
/** The least part of a range, as a share of its numbers: they have 16 digits. */
const FINEST = 1e-12;

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** Milliseconds of the parts of an hour and of a day that a clock shows as whole ones. */
const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * SECOND,
);

/** Finds the first of 1, 2, 5, 10, 20, 50… that is no less. */
function roundUp(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

/** Finds the first part of a day, or number of days, that is no less; both in milliseconds. */
const roundTimeUp = (least: number): number =>
  least <= SECOND ? roundUp(least) : (CLOCK.find((each) => each >= least) ?? DAY * roundUp(least / DAY));

/** Cuts a range of a kind into about thirty equal parts, at round values. */
function cut(kind: AxisKind | undefined, [low, high]: readonly [number, number]) {
  const least = Math.max((high - low) / 30, FINEST * Math.max(Math.abs(low), Math.abs(high)), Number.MIN_VALUE / FINEST);
  const step = kind === 'temporal' ? roundTimeUp(least) : roundUp(least);
  const slack = ROUNDING * Math.max(Math.abs(low / step), Math.abs(high / step), 1);
  const start = Math.floor(low / step + slack) * step;
  const last = Math.max(0, Math.ceil((high - start) / step - slack) - 1);
  // the end of the range belongs to the last part
  const find = (value: number) => Math.max(0, Math.min(last, Math.floor((value - start) / step + slack)));
  return { step, find, from: (part: number) => start + part * step, to: (part: number) => start + (part + 1) * step };
}

/** How a range of a channel that is cut into parts is drawn: ticks stand at the edges of the parts, and times are in UTC. */
const partAxis = (kind: AxisKind | undefined, step: number) =>
  kind === 'temporal' ? { type: 'temporal', scale: { type: 'utc' } } : { type: 'quantitative', bin: { binned: true, step } };

const histogram: SpecMaker = (chart) => {
  const asked = findLook(chart, 'y').range;
  const samples = listSamples(chart, { byGroup: false });
  // counts of several facets are compared, so that all are cut at the same places
  const [low, high] = findRangeOfY(findSharer(chart));
  const parts = cut(chart.axes['y']?.kind, [low, high]);
  const values = samples.flatMap(({ s, sorted }) => {
    const counts = new Map<number, number>();
    for (const value of sorted) {
      if (value < low || value > high) continue;
      const part = parts.find(value);
      counts.set(part, (counts.get(part) ?? 0) + 1);
    }
    return Array.from(counts, ([part, n]) => ({ s, from: parts.from(part), to: parts.to(part), n }));
  });
  const axis = partAxis(chart.axes['y']?.kind, parts.step);
  return {
    data: { values },
    mark: { type: 'bar', opacity: 0.7 },
    encoding: {
      x: { field: 'from', ...axis, title: nameValues(chart), ...(asked ? { scale: { ...axis.scale, domain: asked } } : {}) },
      x2: { field: 'to' },
      y: { field: 'n', type: 'quantitative', stack: null, title: 'count' },
      color: makeSeriesColor(chart),
    },
  };
};

const plane: SpecMaker = (chart) => {
  const points = pickFinite(chart);
  const across = cut(chart.axes['x']?.kind, findExtent(points.map(({ x }) => x)));
  const up = cut(chart.axes['y']?.kind, findExtent(points.map(({ y }) => y)));
  const counts = new Map<string, { x: number; y: number; n: number }>();
  for (const point of points) {
    const [x, y] = [across.find(point.x), up.find(point.y)];
    const cell = counts.get(`${x} ${y}`) ?? { x, y, n: 0 };
    counts.set(`${x} ${y}`, { x, y, n: cell.n + 1 });
  }
  const field = (channel: 'x' | 'y', { step }: { step: number }) => {
    const usual = makeField(chart, channel);
    const axis = partAxis(chart.axes[channel]?.kind, step);
    return { ...usual, ...axis, scale: { ...usual.scale, ...axis.scale } };
  };
  return {
    data: {
      values: Array.from(counts.values(), ({ x, y, n }) => ({ x: across.from(x), x2: across.to(x), y: up.from(y), y2: up.to(y), n })),
    },
    mark: 'rect',
    encoding: {
      x: field('x', across),
      x2: { field: 'x2' },
      y: field('y', up),
      y2: { field: 'y2' },
      color: { field: 'n', type: 'quantitative', title: 'count' },
    },
  };
};

export const counted: Record<string, SpecMaker> = { histogram, 'histogram-2d': plane };
