import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOrMake, sendTable, type ListedTable, type SampleClient } from './client.ts';
import type { SampleLibrary } from './library.service.ts';
import { PARTNERS } from './sample.service.ts';

const WAIT_TRIES = 120;
const BLOCKS = ['north', 'middle', 'south'];
const DASHBOARD = 'The season at a glance';

/** Waits until the macro has made rows. Undefined when there are none within a minute: its language may not run on this machine. */
async function findResults(client: SampleClient, experiment: string, macroId: string): Promise<string | undefined> {
  for (let tries = 0; tries < WAIT_TRIES; tries += 1) {
    const tables = await client.get<ListedTable[]>(`${experiment}/tables`);
    if (tables.some(({ identifier, totalRows }) => identifier === macroId && totalRows > 0)) return macroId;
    await sleep(500);
  }
  return undefined;
}

type Source = { columnName: string; role: string; [more: string]: string };

interface ChartFacts {
  name: string;
  type: string;
  sources: Source[];
  config?: object;
  aggregation?: object;
}

const chart = (tableName: string, { name, type, sources, config, aggregation }: ChartFacts) => ({
  name,
  chartFamily: ['line', 'bar', 'scatter', 'area'].includes(type) ? 'basic' : 'statistical',
  chartType: type,
  config,
  dataConfig: { tableName, dataSources: sources.map((source) => ({ tableName, ...source })), aggregation },
});

const weekly = { groupBy: [{ column: 'timestamp', timeBucket: 'week' }], functions: [] };
const daily = { groupBy: [{ column: 'measured_at', timeBucket: 'day' }], functions: [] };

const resultCharts = (macroId: string) => [
  chart(macroId, {
    name: 'Drought lowers photosynthesis week by week',
    type: 'line',
    sources: [
      { columnName: 'timestamp', role: 'x' },
      { columnName: 'Phi2', role: 'y', aggregate: 'avg', error: 'ci95' },
      { columnName: 'treatment', role: 'color' },
    ],
    aggregation: weekly,
    config: { x: { title: 'Week' }, y: { title: 'Phi2, mean and 95 % interval' } },
  }),
  chart(macroId, {
    name: 'Greenness of the genotypes',
    type: 'box-plot',
    sources: [
      { columnName: 'genotype', role: 'x' },
      { columnName: 'SPAD', role: 'y' },
      { columnName: 'treatment', role: 'color' },
    ],
    config: { y: { title: 'SPAD' } },
  }),
  chart(macroId, {
    name: 'Electron flow in the light',
    type: 'scatter',
    sources: [
      { columnName: 'light', role: 'x' },
      { columnName: 'LEF', role: 'y' },
      { columnName: 'treatment', role: 'color' },
    ],
    config: { x: { title: 'PAR, µmol m⁻² s⁻¹' }, y: { title: 'LEF, µmol m⁻² s⁻¹' } },
  }),
];

const weatherChart = (tableName: string) =>
  chart(tableName, {
    name: 'The weather of the season',
    type: 'line',
    sources: [
      { columnName: 'measured_at', role: 'x' },
      { columnName: 'air_temperature', role: 'y', aggregate: 'avg', seriesName: 'air temperature' },
      { columnName: 'rain_mm', role: 'y', aggregate: 'sum', traceType: 'bar', axis: 'secondary', seriesName: 'rain' },
    ],
    aggregation: daily,
    config: { x: { title: 'Day' }, y: { title: 'Air temperature, °C' }, y2: { title: 'Rain, mm a day' } },
  });

async function showCharts(client: SampleClient, experiment: string, results: string | undefined, weather: string | undefined) {
  const wanted = [...(results === undefined ? [] : resultCharts(results)), ...(weather === undefined ? [] : [weatherChart(weather)])];
  const shown = [];
  for (const each of wanted) shown.push(await findOrMake(client, `${experiment}/visualizations?limit=100`, each));
  const place = (at: number) => ({ col: (at % 2) * 6, row: 2 + Math.floor(at / 2) * 5, colSpan: 6, rowSpan: 5 });
  await findOrMake(client, `${experiment}/dashboards?limit=100`, {
    name: DASHBOARD,
    description: 'What the drought did to the plots.',
    widgets: [
      {
        id: randomUUID(),
        type: 'richText',
        layout: { col: 0, row: 0, colSpan: 12, rowSpan: 2 },
        config: { html: '<p><strong>Half of the plots had no water.</strong> Each chart is computed from the rows as they are now.</p>' },
      },
      ...shown.map(({ id: visualizationId, name }, at) => ({
        id: randomUUID(),
        type: 'visualization',
        layout: place(at),
        config: { visualizationId, title: name ?? '', showTitle: true },
      })),
    ],
  });
}

interface Page {
  data: { rows: { id: string; annotations: unknown[] | string | null }[] };
}

/** Flags the three lowest values of a column, unless somebody has said something of them already. */
async function sayWhatIsOdd(client: SampleClient, experiment: string, tableName: string, column: string): Promise<void> {
  const filters = JSON.stringify([{ column, operator: 'is_not_null' }]);
  const query = new URLSearchParams({ tableName, orderBy: column, page: '1', pageSize: '3', filters });
  const [page] = await client.get<Page[]>(`${experiment}/data?${query.toString()}`);
  const rows = page?.data.rows ?? [];
  if (rows.length === 0 || rows.some(({ annotations }) => annotations !== null && annotations.length > 0)) return;
  const say = (rowIds: string[], content: { type: string; flagType?: string; text: string }) =>
    client.post(`${experiment}/data/annotations/bulk`, { tableName, rowIds, annotation: { type: content.type, content } });
  const ids = rows.map(({ id }) => id);
  await say(ids, { type: 'flag', flagType: 'needs_review', text: 'One of the three lowest of this table.' });
  await say(ids.slice(0, 1), { type: 'comment', text: 'Measured on a leaf that had begun to roll.' });
}

async function describePlots(client: SampleClient, experiment: string): Promise<void> {
  const there = await client.get<{ metadata: { name: string } }[]>(`${experiment}/metadata`);
  if (there.some(({ metadata }) => metadata.name === 'Plots')) return;
  await client.post(`${experiment}/metadata`, {
    metadata: {
      name: 'Plots',
      columns: [
        { id: 'plot', name: 'plot_number', type: 'string' },
        { id: 'block', name: 'block', type: 'string' },
        { id: 'sown', name: 'sown', type: 'date' },
      ],
      rows: Array.from({ length: 12 }, (_, at) => ({
        _id: String(at + 1),
        plot: String(at + 1).padStart(2, '0'),
        block: BLOCKS[Math.floor(at / 4)],
        sown: `2026-04-${10 + (at % 3)}`,
      })),
      identifierColumnId: 'plot',
      experimentQuestionId: 'plot',
    },
  });
}

const INSTRUMENTS = [
  { serialNumber: '54:4b:01', deviceType: 'multispeq', name: 'Leaf Lab 1' },
  { serialNumber: '54:4b:02', deviceType: 'multispeq', name: 'Leaf Lab 2' },
  { serialNumber: '54:4b:03', deviceType: 'multispeq', name: 'Leaf Lab 3' },
  { serialNumber: 'minipar-04', deviceType: 'minipar', name: 'MiniPAR north' },
  { serialNumber: 'minipar-05', deviceType: 'minipar', name: 'MiniPAR south' },
];

async function registerInstruments(client: SampleClient, organizationId: string): Promise<void> {
  const deviceIds = [];
  for (const instrument of INSTRUMENTS)
    deviceIds.push((await findOrMake(client, '/api/v1/devices?pageSize=100&page=1', { ...instrument, organizationId })).id);
  const group = await findOrMake(client, '/api/v1/device-groups?pageSize=100&page=1', {
    name: 'Field 4',
    description: 'The instruments of the daily walk.',
    organizationId,
  });
  await client.post(`/api/v1/device-groups/${group.id}/devices`, { deviceIds });
}

async function uploadHeights(client: SampleClient, experiment: string): Promise<string> {
  const lines = Array.from({ length: 40 }, (_, at) => {
    const soil = at % 2 === 0 ? 'clay' : 'sand';
    return `${at + 1},${soil},${(62 + (at % 2 === 0 ? 9 : 0) + ((at * 7) % 11) / 2).toFixed(1)}`;
  });
  const files = [{ path: 'heights.csv', text: `plant,soil,height_cm\n${lines.join('\n')}\n` }];
  return (await sendTable(client, experiment, { sourceKind: 'csv', targetName: 'heights', files })).uploadTableId;
}

/** What the second organization shows to everybody: a small public experiment of its own. */
export async function preparePartners(client: SampleClient): Promise<void> {
  const mine = await client.get<{ id: string; slug: string }[]>('/api/v1/users/me/organizations');
  const organizationId = mine.find(({ slug }) => slug === PARTNERS)?.id;
  const { id } = await findOrMake(client, '/api/v1/experiments?search=Wheat', {
    name: 'Wheat in two soils',
    description: 'Heights of forty plants on clay and on sand. Public: everybody who has an account may read it.',
    organizationId,
    visibility: 'public',
    locations: [{ name: 'Lower field', latitude: 52.0432, longitude: 5.5871, country: 'Netherlands', municipality: 'Ede' }],
  });
  const experiment = `/api/v1/experiments/${id}`;
  const { uploads } = await client.get<{ uploads: { uploadTableId: string }[] }>(`${experiment}/data/uploads`);
  const uploadTableId = uploads[0]?.uploadTableId ?? (await uploadHeights(client, experiment));
  await findOrMake(
    client,
    `${experiment}/visualizations?limit=100`,
    chart(uploadTableId, {
      name: 'Taller on clay',
      type: 'bar',
      sources: [
        { columnName: 'soil', role: 'x' },
        { columnName: 'height_cm', role: 'y', aggregate: 'avg', error: 'sem' },
      ],
      config: { y: { title: 'Height, cm' } },
    }),
  );
}

interface Where {
  experimentId: string;
  organizationId: string;
  /** A table, and the column of it whose three lowest values are flagged. */
  uploadTableId: string;
  lowest?: string;
}

/** Makes what there is to look at beside the rows: charts, a dashboard, what people said, plots, instruments. What is there already stays. */
export async function prepareViews(client: SampleClient, where: Where, { macro }: SampleLibrary): Promise<void> {
  const experiment = `/api/v1/experiments/${where.experimentId}`;
  await describePlots(client, experiment);
  const dashboards = await client.get<{ name: string }[]>(`${experiment}/dashboards?limit=100`);
  // the dashboard comes last: once it is there, no row is read at a start, for which the engine would have to be opened
  if (dashboards.every(({ name }) => name !== DASHBOARD))
    await sayWhatIsOdd(client, experiment, where.uploadTableId, where.lowest ?? 'spad');
  await registerInstruments(client, where.organizationId);
  const results = await findResults(client, experiment, macro.id);
  const tables = await client.get<ListedTable[]>(`${experiment}/tables`);
  await showCharts(client, experiment, results, tables.find(({ displayName }) => displayName === 'weather')?.identifier);
}
