/** A heatmap: cells side by side, each the mean of its rows. */
import { flatten, printText, nameAxis, type Chart, type Point } from './chart.ts';
import { byName } from './order.ts';
import { makeField, orderCategories, type SpecMaker } from './spec.ts';

/** Names a time for a row or column of cells: by its day, and by its minute when not all times are midnights. */
const named = (values: readonly unknown[]) => {
  const hasClock = values.some((value) => typeof value === 'string' && !value.includes('T00:00:00'));
  return (value: unknown) => (typeof value === 'string' ? value.slice(0, hasClock ? 16 : 10).replace('T', ' ') : value);
};

const areShort = (points: readonly Point[]) =>
  new Set(points.map((point) => printText(point['x'], ''))).size <= 24 && points.every((point) => printText(point['x'], '').length < 4);

/** How many cells a heatmap has at most; a cell is a mark of its own. */
export const MOST_HEATMAP_CELLS = 10_000;

/** Gathers the cells of a heatmap, each with the mean of its values. */
export function gatherCells(chart: Chart) {
  const points = flatten(chart);
  const isTime = (channel: string) => chart.axes[channel]?.kind === 'temporal';
  const label = (channel: string) => (isTime(channel) ? named(points.map((point) => point[channel])) : (value: unknown) => value);
  const [x, y] = [label('x'), label('y')];
  const found = new Map<string, { x: unknown; y: unknown; sum: number; count: number }>();
  for (const point of points) {
    const [column, row] = [x(point['x']), y(point['y'])];
    const key = JSON.stringify([column, row]);
    const cell = found.get(key) ?? { x: column, y: row, sum: 0, count: 0 };
    const value = point['z'];
    if (typeof value === 'number' && Number.isFinite(value)) [cell.sum, cell.count] = [cell.sum + value, cell.count + 1];
    found.set(key, cell);
  }
  return Array.from(found.values(), ({ sum, count, ...cell }) => ({ x: cell.x, y: cell.y, z: count === 0 ? null : sum / count }));
}

const MOST_LABELS = 100;

/** Picks evenly among the values of a side that are too many to be named each: a picture would hold and measure every name, also of those that it hides. */
function pickLabels(values: readonly unknown[]): unknown[] | undefined {
  const own = [...new Set(values)];
  if (own.length <= MOST_LABELS) return undefined;
  const sorted = own.every((value) => typeof value === 'number')
    ? own.sort((a, b) => a - b)
    : own.sort((a, b) => byName.compare(printText(a, ''), printText(b, '')));
  const step = Math.ceil(sorted.length / MOST_LABELS);
  return sorted.filter((_, at) => at % step === 0);
}

/** Cells side by side, however far apart their values are: on a scale of time they would have no extent. */
export const drawHeatmap: SpecMaker = (chart) => {
  const points = flatten(chart);
  const isTime = chart.axes['x']?.kind === 'temporal';
  const places = gatherCells(chart);
  const isMean = places.length < points.length;
  const drawn = places.slice(0, MOST_HEATMAP_CELLS);
  const side = (channel: 'x' | 'y') => {
    const domain = chart.axes[channel]?.kind === 'categorical' ? orderCategories(chart, channel)?.domain : undefined;
    return {
      ...makeField(chart, channel),
      type: 'ordinal',
      // the first of the rows is the lowest
      scale: domain ? { domain: channel === 'y' ? domain.toReversed() : domain } : {},
      ...(channel === 'y' ? { sort: 'descending' } : {}),
      axis: {
        labelOverlap: true,
        values: pickLabels(drawn.map((cell) => cell[channel])),
        ...(channel === 'x' && !isTime ? { labelAngle: areShort(points) ? 0 : -40 } : {}),
      },
    };
  };
  return {
    data: { values: drawn },
    mark: 'rect',
    encoding: {
      x: side('x'),
      y: side('y'),
      color: {
        field: 'z',
        type: 'quantitative',
        title: isMean ? `mean of ${nameAxis(chart, 'z')}` : nameAxis(chart, 'z'),
      },
    },
  };
};
