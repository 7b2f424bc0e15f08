import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Drawing } from '../charts/drawing.tsx';
import { chartsQuery, specQuery } from '../charts/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { filtersOn, tableOf } from './filters.ts';
import { Framed, type PartProps } from './part.tsx';
import type { WidgetOf } from './queries.ts';

const said = words.dashboards;

/** Pixels of axes and legends beside the plotted area. */
const BESIDE = { width: 130, height: 90 };
/** Sizes are rounded to this, so that a chart is not asked for anew at every pixel of a window that is resized. */
const STEP = 40;
const plotted = (pixels: number, beside: number) => Math.min(2_000, Math.max(100, Math.round((pixels - beside) / STEP) * STEP));

/** The size of an element; null before it is known. */
function useSize() {
  const place = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  useEffect(() => {
    if (place.current === null) return;
    const watcher = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);
  return { place, size };
}

/** A saved chart, narrowed by the filters of the dashboard that are about its table. */
export function ChartPart({ widget, board }: PartProps<WidgetOf<'visualization'>>) {
  const { id, tables, widgets, typed } = board;
  const { visualizationId } = widget.config;
  const { place, size } = useSize();
  const charts = useQuery(chartsQuery(id));
  const chart = charts.data?.find((each) => each.id === visualizationId);
  const table = tableOf(tables, chart?.dataConfig.tableName);
  const added = table === undefined ? [] : filtersOn(widgets, tables, typed, table);
  const drawn = {
    // the part shows the name already
    ...(chart === undefined || widget.config.showTitle ? {} : { name: chart.name }),
    chartType: chart?.chartType ?? ('line' as const),
    config: chart?.config ?? {},
    dataConfig: { ...chart?.dataConfig, filters: [...(chart?.dataConfig.filters ?? []), ...added] },
  };
  const pixels = size === null ? {} : { width: plotted(size.width, BESIDE.width), height: plotted(size.height, BESIDE.height) };
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...specQuery(id, drawn, pixels),
    enabled: chart !== undefined && size !== null,
  });
  const name = chart?.name ?? said.untitledChart;
  return (
    <Framed config={{ ...widget.config, title: widget.config.title ?? name }} fallback={name}>
      <div ref={place} className="chart-part">
        {charts.error !== null || error !== null ? (
          <Problem error={charts.error ?? error} retry={() => void (error === null ? charts.refetch() : refetch())} />
        ) : charts.data !== undefined && chart === undefined ? (
          <p className="quiet">{said.gone}</p>
        ) : data === undefined ? (
          <p className="quiet">{words.waiting}</p>
        ) : (
          <Drawing spec={data} name={words.charts.drawing(name)} isStale={isPlaceholderData} />
        )}
      </div>
    </Framed>
  );
}
