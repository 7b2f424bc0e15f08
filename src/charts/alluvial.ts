import { readJson } from '../json.ts';
import { flatten, NO_VALUE, printText, nameAxis, type Chart } from './chart.ts';
import { pickInk } from './look.ts';
import { byName } from './order.ts';
import { makeLayer, makeSplit, makeTexts, type SpecMaker } from './spec.ts';

interface Band {
  low: number;
  high: number;
}

/** Stacks the categories of a stage, in order of name, on a column of height one. */
function stack(weights: ReadonlyMap<string, number>): Map<string, Band> {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0) || 1;
  let low = 0;
  return new Map(
    [...weights]
      .sort(([a], [b]) => byName.compare(a, b))
      .map(([name, weight]) => {
        const band = { low, high: low + weight / total };
        low = band.high;
        return [name, band];
      }),
  );
}

const stagesOf = ({ axes }: Chart) => Object.keys(axes).filter((channel) => /^groupBy\d+$/.test(channel));
const smooth = (t: number) => t * t * (3 - 2 * t);

/** Lists the ways through all stages, and what flows on each. What is below zero has no width, and is not drawn. */
export function listFlows(chart: Chart): { names: string[]; weight: number }[] {
  const stages = stagesOf(chart);
  return flatten(chart).map((row) => ({
    names: stages.map((stage) => printText(row[stage], NO_VALUE)),
    weight: row['value'] === undefined ? 1 : Number(row['value']) || 0,
  }));
}

/** Ribbons from stage to stage, as wide as what flows. */
export const drawAlluvial: SpecMaker = (chart) => {
  const stages = stagesOf(chart);
  const rows = listFlows(chart).filter(({ weight }) => weight >= 0);
  const weigh = (name: (names: string[]) => string) => {
    const weights = new Map<string, number>();
    for (const { names, weight } of rows) weights.set(name(names), (weights.get(name(names)) ?? 0) + weight);
    return weights;
  };
  const columns = stages.map((_, stage) => stack(weigh((names) => names[stage] ?? '')));
  const total = rows.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const ribbons = stages.slice(1).flatMap((_, stage) => {
    const filled = [new Map<string, number>(), new Map<string, number>()];
    const flows = [...weigh((names) => JSON.stringify([names[stage], names[stage + 1]]))].sort(([a], [b]) => byName.compare(a, b));
    return flows.flatMap(([key, weight], index) => {
      const [from = '', to = ''] = readJson(key) as string[];
      const ends = [from, to].map((name, side) => {
        const below = filled[side]?.get(name) ?? 0;
        filled[side]?.set(name, below + weight / total);
        return (columns[stage + side]?.get(name)?.low ?? 0) + below;
      });
      const [a = 0, b = 0] = ends;
      const height = weight / total;
      return Array.from({ length: 21 }, (_, step) => {
        const t = step / 20;
        const low = a + (b - a) * smooth(t);
        return { px: stage + 0.03 + 0.94 * t, low, high: low + height, r: `${stage}:${index}`, s: from };
      });
    });
  });
  const labels = columns.flatMap((column, stage) =>
    [...column].map(([name, { low, high }]) => ({ px: stage, py: (low + high) / 2, t: name })),
  );
  const bars = columns.flatMap((column, stage) =>
    [...column].map(([, { low, high }]) => ({ px: stage, py: low + 0.003, high: Math.max(low + 0.004, high - 0.003) })),
  );
  const titles = stages.map((stage, position) => ({ px: position, py: 1.06, t: nameAxis(chart, stage) }));
  const y = { field: 'py', type: 'quantitative', axis: null };
  // names of the first stage stand to its left, where no ribbon is; names of the other stages stand to the right
  const [first, others] = [labels.filter(({ px }) => px === 0), labels.filter(({ px }) => px > 0)];
  return {
    layer: [
      makeLayer(
        ribbons,
        { type: 'area', opacity: 0.5 },
        {
          y: { field: 'low', type: 'quantitative', axis: null },
          y2: { field: 'high' },
          order: undefined,
          detail: { field: 'r', type: 'nominal' },
          color: {
            ...makeSplit(
              chart,
              ribbons.map(({ s }) => s),
            ),
            legend: null,
          },
        },
      ),
      makeLayer(bars, { type: 'rule', strokeWidth: 6, color: pickInk(chart.look).text }, { y, y2: { field: 'high' }, order: undefined }),
      makeTexts(first, { align: 'right', dx: -8, limit: 150 }),
      makeTexts(others, { align: 'left', dx: 8, limit: 150 }),
      makeTexts(titles, { fontWeight: 'bold', limit: 150 }),
    ],
  };
};
