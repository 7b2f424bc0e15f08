import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { VisualizationSpec } from 'vega-embed';
import { Drawing } from '../charts/drawing.tsx';
import { experimentQuery } from '../experiments/queries.ts';
import { useSteady } from '../ui/steady.ts';
import { words } from '../words.ts';
import type { Monitoring } from './queries.ts';

const said = words.devices.device;
const NARROW = 640;

interface Bar {
  at: string;
  experiment: string;
  count: number;
}

interface Range {
  from: string;
  to: string;
}

function barsOf(bars: readonly Bar[], bucket: Monitoring['bucket'], { from, to }: Range): VisualizationSpec {
  const isSmall = globalThis.innerWidth < NARROW;
  const unit = bucket === 'hour' ? 'utcyearmonthdatehours' : 'utcyearmonthdate';
  const [length, rest] = bucket === 'hour' ? [13, ':00:00Z'] : [10, 'T00:00:00Z'];
  const experiments = new Set(bars.map(({ experiment }) => experiment)).size;
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    width: isSmall ? 270 : 640,
    height: 170,
    background: 'transparent',
    data: { values: bars.map((bar) => ({ ...bar })) },
    mark: { type: 'bar' },
    encoding: {
      x: {
        field: 'at',
        type: 'temporal',
        timeUnit: unit,
        title: null,
        scale: { type: 'utc', domain: [from.slice(0, length) + rest, to] },
        axis: { format: bucket === 'hour' ? '%H:%M' : '%b %d', tickCount: isSmall ? 4 : 7, grid: false },
      },
      y: { field: 'count', type: 'quantitative', title: null, axis: { tickMinStep: 1 } },
      color: {
        field: 'experiment',
        type: 'nominal',
        scale: { range: ['#2f855a', '#b7791f', '#2b6cb0', '#9b2c6f', '#718096'] },
        legend: experiments === 1 ? null : { orient: 'bottom', title: null, columns: 1, labelLimit: 260 },
      },
    },
    config: { view: { stroke: null }, font: 'system-ui, sans-serif', axis: { labelFontSize: 12 }, legend: { labelFontSize: 13 } },
  };
}

/** Measurements by hour or day, each experiment in its colour. */
export function Throughput({ monitoring: { throughput, bucket, from, to }, name }: { monitoring: Monitoring; name: string }) {
  const ids = [...new Set(throughput.map(({ experimentId }) => experimentId))].filter((id) => id !== null);
  const found = useQueries({ queries: ids.map((id) => experimentQuery(id)) });
  const names = new Map(ids.map((id, index) => [id, found[index]?.data?.experiment.name ?? id]));
  const bars = useSteady(
    throughput.map(({ bucketStart, experimentId, count }) => ({
      at: bucketStart,
      experiment: experimentId === null ? said.otherExperiments : (names.get(experimentId) ?? experimentId),
      count,
    })),
  );
  const spec = useMemo(() => barsOf(bars, bucket, { from, to }), [bars, bucket, from, to]);
  return <Drawing spec={spec} name={name} />;
}
