import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { VisualizationSpec } from 'vega-embed';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, everyOf, queryClient } from '../api.ts';

const CHARTS = '/api/v1/experiments/{id}/visualizations';
const CHART = '/api/v1/experiments/{id}/visualizations/{visualizationId}';
const DRAFT = '/api/v1/experiments/{id}/chart';

export type NewChart = BodyOf<typeof CHARTS, 'post'>;
export type ChartListed = AnswerTo<typeof CHARTS, 'get'>[number];

/** Pixels of the plotted area; the API's own size when absent. */
interface Size {
  width?: number;
  height?: number;
}

/** What is drawn of a chart. */
interface Drawn {
  /** Version of the table; the newest one when absent. */
  asOf?: number | undefined;
  /** Title above the chart when its look has none. */
  name?: string;
  chartType: NewChart['chartType'];
  config?: unknown;
  dataConfig: unknown;
}

/** A chart as the picture route reads it. */
const draftText = ({ name, chartType, config, dataConfig }: Drawn) => JSON.stringify({ name, chartType, config, dataConfig });

const versionOf = ({ asOf }: Drawn) => (asOf === undefined ? {} : { asOf });

/** The specification of a chart, with its data: the same that its PNG and SVG are drawn from. */
export const specQuery = (id: string, chart: Drawn, size: Size) =>
  queryOptions({
    // made of rows, so that what renews them renews it
    queryKey: ['rows', id, 'chart', draftText(chart), size, chart.asOf],
    queryFn: async ({ signal }) => {
      const query = { chart: draftText(chart), format: 'vega-lite', ...size, ...versionOf(chart) } as const;
      const { data } = await api.GET(DRAFT, { params: { path: { id }, query }, signal });
      // the API's document types every format besides JSON as text, but this answer is an object
      return data as unknown as VisualizationSpec;
    },
    // the chart before stays until the next one is drawn
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

/** The picture of a chart as a file. */
export async function pictureOf(id: string, chart: Drawn, format: 'png' | 'svg'): Promise<Blob> {
  const { data } = await api.GET(DRAFT, {
    params: { path: { id }, query: { chart: draftText(chart), format, ...versionOf(chart) } },
    parseAs: 'blob',
  });
  return data as unknown as Blob;
}

export const chartsQuery = (id: string) =>
  queryOptions({
    queryKey: ['charts', id],
    queryFn: async ({ signal }) => everyOf((place) => api.GET(CHARTS, { params: { path: { id }, query: place }, signal })),
  });

/** A stored chart, and the tag of its version for a change. */
export const savedQuery = (id: string, visualizationId: string) =>
  queryOptions({
    queryKey: ['chart', id, visualizationId],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET(CHART, { params: { path: { id, visualizationId } }, signal });
      if (data === undefined) throw new Error('The answer holds no chart.');
      return { chart: data, tag: response.headers.get('etag') ?? '*' };
    },
  });

const renew = async (id: string) => {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['charts', id] }),
    queryClient.invalidateQueries({ queryKey: ['chart', id] }),
  ]);
};

/** Stores a chart and answers its id. */
export async function makeChart(id: string, chart: NewChart): Promise<string> {
  const made = await bodyOf(api.POST(CHARTS, { params: { path: { id } }, body: chart }));
  await renew(id);
  return made.id;
}

const target = (id: string, visualizationId: string, tag: string) => ({
  params: { path: { id, visualizationId } },
  headers: { 'if-match': tag },
});

/** Changes a stored chart, unless somebody else did so since its tag was read. Answers its new tag. */
export async function changeChart(id: string, visualizationId: string, tag: string, chart: NewChart): Promise<string> {
  const { response } = await api.PATCH(CHART, { ...target(id, visualizationId, tag), body: chart });
  await renew(id);
  return response.headers.get('etag') ?? '*';
}

export async function removeChart(id: string, visualizationId: string, tag: string): Promise<void> {
  await api.DELETE(CHART, target(id, visualizationId, tag));
  queryClient.removeQueries({ queryKey: ['chart', id, visualizationId] });
  await queryClient.invalidateQueries({ queryKey: ['charts', id] });
}
