import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let id: string;
const ROWS = 3_000;
/** A sensor that was off for five hundred readings in the middle. */
const isOff = (row: number) => row >= 1_000 && row < 1_500;
beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Charted', organizationId: site.cast.leafLab } })).body.id;
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const site = row % 2 === 0 ? 'small' : 'large';
    const wave = 10 + Math.sin(row / 50);
    // between the least and the greatest of the others, and far narrower than a step from one to the other
    const narrow = site === 'small' ? 503.3 + (row % 10) / 1_000 : row / 3;
    return [row, site, site === 'small' ? wave : 20 * wave, narrow, isOff(row) ? '' : wave, row % 2 === 0 ? wave : '', row === 5 ? 7 : ''];
  });
  await uploadTable(
    owner,
    id,
    'leaves',
    ['row,site,size,narrow,gapped,every_second,lonely', ...rows.map((row) => row.join(','))].join('\n'),
  );
});
afterAll(() => site.stop());

const source = ([role, columnName, more = {}]: readonly [string, string, object?]) => ({ tableName: 'leaves', role, columnName, ...more });
type Sources = readonly (readonly [string, string, object?])[];

async function draw(chartType: string, sources: Sources, { format = 'vega-lite', ...more }: Record<string, unknown> = {}) {
  const chart = JSON.stringify({ chartType, dataConfig: { tableName: 'leaves', dataSources: sources.map(source), ...more } });
  const answer = await site.as(site.cast.owner)('GET', `/api/v1/experiments/${id}/chart`, { query: { chart, format: String(format) } });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}
const specOf = async (...asked: Parameters<typeof draw>): Promise<any> => JSON.parse((await draw(...asked)).text);

test('of several functions of a column a series is drawn by the one whose alias it has', async () => {
  const functions = [
    { column: 'row', function: 'avg', alias: 'middle' },
    { column: 'row', function: 'max', alias: 'last' },
    { column: 'row', function: 'corr', secondColumn: 'size', alias: 'with size' },
    { column: 'row', function: 'corr', secondColumn: 'row', alias: 'with itself' },
  ];
  const drawn = async (y: object) => {
    const body = {
      name: 'By alias',
      chartFamily: 'basic',
      chartType: 'bar',
      dataConfig: {
        tableName: 'leaves',
        dataSources: [source(['x', 'site']), source(['y', 'row', y])],
        aggregation: { groupBy: [{ column: 'site' }], functions },
      },
    };
    const path = `/api/v1/experiments/${id}/visualizations`;
    const made = await site.as(site.cast.owner)('POST', path, { body });
    return (await site.as(site.cast.owner)('GET', `${path}/${made.body.id}/data`)).body.series[0].points;
  };
  expect(await drawn({ alias: 'middle' })).toEqual({ x: ['large', 'small'], y: [1_500, 1_499] });
  expect(await drawn({ alias: 'last' })).toEqual({ x: ['large', 'small'], y: [2_999, 2_998] });
  expect(await drawn({})).toEqual({ x: ['large', 'small'], y: [1_500, 1_499] });
  expect((await drawn({ alias: 'with itself', aggregate: 'corr' })).y).toEqual([1, 1]);
});

test('a heatmap, contour or carpet groups by its y as by its x, and aggregates its z', async () => {
  const few = { filters: [{ column: 'row', operator: 'less_than', value: 4 }] };
  const heatmap = await specOf(
    'heatmap',
    [
      ['x', 'row'],
      ['y', 'site'],
      ['z', 'row', { aggregate: 'sum' }],
    ],
    few,
  );
  expect(heatmap.data.values).toEqual([0, 1, 2, 3].map((row) => ({ x: row, y: row % 2 === 0 ? 'small' : 'large', z: row })));
  const places = await specOf(
    'heatmap',
    [
      ['x', 'site'],
      ['y', 'row'],
      ['z', 'size', { aggregate: 'count' }],
    ],
    few,
  );
  expect(places.data.values.map(({ x, y, z }: any) => [x, y, z]).sort()).toEqual([
    ['large', 1, 1],
    ['large', 3, 1],
    ['small', 0, 1],
    ['small', 2, 1],
  ]);
  const plain = (type: string, more: object) =>
    specOf(
      type,
      [
        ['x', 'narrow'],
        ['y', 'row'],
        ['z', 'size', more],
      ],
      few,
    );
  for (const type of ['contour', 'carpet']) {
    const [of, summed] = [await plain(type, {}), await plain(type, { aggregate: 'max' })];
    const valuesOf = ({ data, layer }: any) => data?.values ?? layer[2].data.values;
    expect(valuesOf(summed), type).toEqual(valuesOf(of));
  }
});

test('the stages of an alluvial chart stand in the order of its columns', async () => {
  const few = { filters: [{ column: 'row', operator: 'less_than', value: 2 }] };
  const stages = [
    ['groupBy', 'site'],
    ['groupBy', 'row'],
    ['groupBy', 'lonely'],
  ] as const;
  const { layer } = await specOf('alluvial', stages, few);
  const titles = (layer as { mark: { fontWeight?: string }; data: { values: { t: string }[] } }[]).find(({ mark }) => mark.fontWeight);
  expect(titles?.data.values.map(({ t }) => t)).toEqual(['site', 'row', 'lonely']);
});

test('histograms of several facets count the same parts, unless each has a scale of its own', async () => {
  const cut = async (look: object) => {
    const chart = {
      chartType: 'histogram',
      config: look,
      dataConfig: { tableName: 'leaves', dataSources: [source(['y', 'size']), source(['facet', 'site'])] },
    };
    const query = { chart: JSON.stringify(chart), format: 'vega-lite' };
    const answer = await site.as(site.cast.owner)('GET', `/api/v1/experiments/${id}/chart`, { query });
    return JSON.parse(answer.text).concat.map(({ data }: any) => data.values) as { from: number; to: number; n: number }[][];
  };
  const widths = (facets: { from: number; to: number }[][]) => [
    ...new Set(facets.flat().map(({ from, to }) => Math.round(100 * (to - from)) / 100)),
  ];
  const shared = await cut({});
  expect(shared.map((parts) => parts.reduce((sum, { n }) => sum + n, 0))).toEqual([ROWS / 2, ROWS / 2]);
  expect(widths(shared)).toEqual([10]);
  expect(widths(await cut({ facetScales: 'own' })).sort()).toEqual([0.1, 2]);
});

const areaOf = (points: { v: number; d: number }[]) =>
  points.slice(1).reduce((sum, { v, d }, index) => sum + ((v - points[index]!.v) * (d + points[index]!.d)) / 2, 0);

test('a density is seen whose values are closer together than the steps it is drawn by', async () => {
  const { data } = await specOf('density-plot', [
    ['y', 'narrow'],
    ['color', 'site'],
  ]);
  for (const [name, least] of [
    ['large', 0.9],
    ['small', 0.999],
  ] as const) {
    const area = areaOf(data.values.filter(({ s }: any) => s === name));
    expect(area, name).toBeGreaterThan(least);
    expect(area, name).toBeLessThan(1.001);
  }
});

test('limits of control are drawn of two values at least, and their mean of one', async () => {
  const limits = async (least: number, below: number) => {
    const filters = [{ column: 'row', operator: 'between', value: [least, below] }];
    return (await specOf('spc-control-chart', [['y', 'gapped']], { filters })).layer[0].data.values.map(({ n }: any) => n);
  };
  expect(await limits(998, 1_200)).toEqual(['mean', '+3σ', '−3σ']);
  expect(await limits(999, 1_200)).toEqual(['mean']);
  expect(await limits(1_000, 1_200)).toEqual([]);
});

/** Numbers of the strokes that a line of the picture has, and of those that are a dot. */
async function countStrokes(sources: Sources, more: object = {}) {
  const { text } = await draw('line', sources, { format: 'svg', ...more });
  const [, path = ''] = /<g class="mark-line[^>]*><path[^>]* d="([^"]*)"/.exec(text) ?? [];
  const strokes = path.split('M').slice(1);
  return { strokes: strokes.length, dots: strokes.filter((stroke) => !stroke.includes('L')).length, text };
}

test('a line ends at a gap, also where it is thinned', async () => {
  const few = { filters: [{ column: 'row', operator: 'between', value: [600, 2_000] }] };
  expect(
    await countStrokes(
      [
        ['x', 'row'],
        ['y', 'gapped'],
      ],
      few,
    ),
  ).toMatchObject({ strokes: 2, dots: 0 });
  expect(
    await countStrokes([
      ['x', 'row'],
      ['y', 'gapped'],
    ]),
  ).toMatchObject({ strokes: 2, dots: 0 });
  // of every second row nothing is missed
  expect(
    await countStrokes([
      ['x', 'row'],
      ['y', 'every_second'],
    ]),
  ).toMatchObject({ strokes: 1, dots: 0 });
});

test('a value without neighbours is drawn as a dot of the line', async () => {
  const few = { filters: [{ column: 'row', operator: 'less_than', value: 10 }] };
  for (const type of ['line', 'area']) {
    const { text } = await draw(
      type,
      [
        ['x', 'row'],
        ['y', 'lonely'],
      ],
      { format: 'svg', ...few },
    );
    const [mark = ''] = /<g class="mark-line[^>]*><path[^>]*>/.exec(text) ?? [];
    expect(mark, type).toMatch(/ d="M[^"L]*Z"/);
    expect(mark, type).toContain('stroke-linecap="round"');
  }
});
