import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileChart } from '../../src/api/visualizations/chart.ts';
import { drawPicture } from '../../src/api/visualizations/picture.ts';
import { CHART_TYPES, type DataConfig } from '../../src/api/visualizations/visualizations.model.ts';
import type { Caller } from '../../src/auth/caller.ts';
import { Drawing } from '../../src/charts/drawing.ts';
import { FairShares } from '../../src/lakehouse/read/shares.ts';
import { grant } from '../support/cast.ts';
import { days, leavesCsv, source, sourcesOf } from '../support/charts.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

let site: TestServer;
let id: string;
beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Plotted', organizationId: site.cast.leafLab } })).body.id;
  await uploadTable(owner, id, 'leaves', leavesCsv());
});
afterAll(() => site.stop());

const make = async (chartType: string, dataSources: object[], more: object = {}) => {
  const body = { name: `A ${chartType}`, chartFamily: 'basic', chartType, dataConfig: { tableName: 'leaves', dataSources, ...more } };
  const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/visualizations`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return `/api/v1/experiments/${id}/visualizations/${answer.body.id}`;
};
const dataOf = async (path: string) => {
  const answer = await site.as(site.cast.owner)('GET', `${path}/data`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

describe('GET /api/v1/experiments/{id}/visualizations/{visualizationId}/data', () => {
  test('gives rows as one array per series, in order of x, with gaps, errors, colours and facets', async () => {
    const path = await make('line', [
      source('x', 'measured_at'),
      source('y', 'spad', { errorColumn: 'sd', seriesName: 'SPAD', axis: 'secondary' }),
      source('color', 'treatment'),
      source('facet', 'site'),
    ]);
    const data = await dataOf(path);
    expect(data).toMatchObject({ chartType: 'line', tableName: 'leaves', rows: 2 * days, truncated: false, version: expect.any(String) });
    expect(data.axes).toMatchObject({
      x: { column: 'measured_at', kind: 'temporal' },
      y: { column: 'spad', kind: 'numeric' },
      error: { column: 'sd' },
    });
    expect(data.series.map(({ color, facet }: any) => `${color} ${facet}`).sort()).toEqual([
      'control north',
      'control south',
      'drought north',
      'drought south',
    ]);
    const [first] = data.series.filter(({ color, facet }: any) => color === 'control' && facet === 'north');
    expect(first).toMatchObject({ name: 'SPAD', axis: 'secondary', traceType: null, downsampled: null });
    expect(first.points.x).toHaveLength(days / 2);
    expect(first.points.x).toEqual([...first.points.x].sort());
    expect(first.points.y).toContain(null);
    expect(first.points.error.every((value: unknown) => value === 1.5)).toBe(true);
  });

  test('names small charts by days of a zone as its calendar does, and answers the instants at which they begin', async () => {
    const groupBy = [{ column: 'measured_at', timeBucket: 'day', timezone: 'Europe/Amsterdam' }];
    const sources = [source('x', 'treatment'), source('y', 'spad', { aggregate: 'avg' }), source('facet', 'measured_at')];
    const path = await make('bar', sources, { aggregation: { groupBy, functions: [] } });
    const { axes, series } = await dataOf(path);
    expect(axes.facet).toMatchObject({ column: 'measured_at_day', kind: 'temporal', timezone: 'Europe/Amsterdam' });
    const [instant] = series.map(({ facet }: any) => facet).sort();
    expect(instant).toMatch(/T2[23]:00:00/);
    const svg = await site.as(site.cast.owner)('GET', `${path}/image`);
    const day = new Date(Date.parse(instant) + 3 * 3_600_000).toISOString().slice(0, 10);
    expect(svg.text).toContain(`>${day}<`);
    expect(svg.text).not.toContain(instant);
  });

  test('aggregates by series, with buckets and colour as group keys, and runs sums along x within each colour', async () => {
    const aggregation = { groupBy: [{ column: 'measured_at', timeBucket: 'month' }], functions: [] };
    const mean = await dataOf(
      await make(
        'bar',
        [source('x', 'measured_at'), source('y', 'npq', { aggregate: 'max' }), source('y', 'height'), source('color', 'treatment')],
        { aggregation },
      ),
    );
    expect(mean.axes).toMatchObject({ x: { column: 'measured_at_month' }, y: { column: 'npq_max_s1' } });
    expect(mean.series).toHaveLength(4);
    const control = mean.series.find(({ name, color }: any) => name === 'height' && color === 'control');
    expect(control.points.y).toEqual([122.5, 100 + 1.5 * 45]);
    const running = await dataOf(
      await make('line', [source('x', 'measured_at'), source('y', 'height', { aggregate: 'cumsum' }), source('color', 'treatment')], {
        aggregation,
      }),
    );
    const sums = running.series.map(({ points }: any) => points.y);
    expect(sums[0]).toEqual(sums[1]);
    expect(sums[0][1]).toBeGreaterThan(sums[0][0]);
    expect(sums[0][1]).toBeCloseTo(Array.from({ length: days }, (_, day) => 100 + day * 1.5).reduce((a, b) => a + b, 0));
  });

  test('draws a column that it names in two spellings twice, and every other column as itself', async () => {
    const spelled = await dataOf(
      await make('line', [source('x', '"height"'), source('y', 'height'), source('y', 'npq'), source('y', 'spad')]),
    );
    const plain = await dataOf(await make('line', [source('x', 'height'), source('y', 'npq'), source('y', 'spad')]));
    const [height, npq, spad] = spelled.series;
    expect(height.points.y).toEqual(height.points.x);
    expect([npq.points, spad.points]).toEqual(plain.series.map(({ points }: any) => points));
    expect(spelled.axes).toMatchObject({ x: { column: 'height' }, y: { column: 'height' } });
  });

  test('groups by and computes of a column in whichever spelling the chart and its aggregation name it', async () => {
    const aggregation = {
      groupBy: [{ column: 'measured_at', timeBucket: 'month' }],
      functions: [{ column: 'height', function: 'max' }],
    };
    const plain = await dataOf(await make('bar', [source('x', 'measured_at'), source('y', 'height')], { aggregation }));
    const spelled = await dataOf(await make('bar', [source('x', '"measured_at"'), source('y', '`height`')], { aggregation }));
    expect(plain.axes.y.title).toBe('height');
    expect(plain.series[0].points.y).toHaveLength(2);
    expect(spelled.series[0].points).toEqual(plain.series[0].points);
  });

  test('a filter by a whole number that JSON rounds is refused, and holds what it says as text', async () => {
    const owner = site.as(site.cast.owner);
    const tableName = await uploadTable(owner, id, 'counted', 'n,big\n1,9007199254740992\n2,9007199254740993\n');
    const draw = async (value: unknown) => {
      const filters = [{ column: 'big', operator: 'equals', value }];
      return owner(
        'GET',
        `${await make('line', [source('x', 'n', { tableName }), source('y', 'n', { tableName })], { tableName, filters })}/data`,
      );
    };
    expect((await draw('9007199254740993')).body.series).toMatchObject([{ points: { x: [2] } }]);
    const refused = await draw(9007199254740993);
    expect([refused.status, refused.body.code]).toEqual([400, 'QUERY_REFUSED']);
    const chart = (value: unknown) => {
      const filters = [{ column: 'big', operator: 'equals', value }];
      const dataSources = [source('x', 'n', { tableName }), source('y', 'n', { tableName })];
      return { name: 'Long', chartFamily: 'basic', chartType: 'line', dataConfig: { tableName, filters, dataSources } };
    };
    const base = `/api/v1/experiments/${id}`;
    expect((await owner('POST', `${base}/visualizations`, { body: chart(1) })).status).toBe(201);
    expect((await owner('GET', `${base}/chart`, { query: { chart: JSON.stringify(chart(1)) } })).status).toBe(200);
    for (const value of [JSON.rawJSON('9007199254740993'), [1, JSON.rawJSON('0.1234567890123456789')]]) {
      const kept = await owner('POST', `${base}/visualizations`, { body: chart(value) });
      const drawn = await owner('GET', `${base}/chart`, { query: { chart: JSON.stringify(chart(value)) } });
      for (const answer of [kept, drawn]) {
        expect(answer.status, answer.text).toBe(400);
        expect(answer.body.errors[0].message).toContain('more digits than are kept of a number: send it as text');
      }
    }
  });

  test('counts what a pie shares when no values are named, and applies filters', async () => {
    const filters = [{ column: 'site', operator: 'equals', value: 'north' }];
    const pie = await dataOf(await make('pie', [source('labels', 'treatment')], { filters }));
    expect(pie.series).toMatchObject([{ points: { labels: expect.arrayContaining(['control', 'drought']), values: [30, 30] } }]);
  });

  test('counts, or computes otherwise, the column that it is grouped by, and rows without a value in it', async () => {
    const counted = async (column: string) => {
      const { series, axes } = await dataOf(await make('bar', [source('x', 'treatment'), source('y', column, { aggregate: 'count' })]));
      return [series.map(({ points }: any) => [points.x, points.y]), axes.y.title];
    };
    expect(await counted('treatment')).toEqual([
      [
        [
          ['control', 'drought'],
          [days, days],
        ],
      ],
      'count of treatment',
    ]);
    expect(await counted('*')).toEqual([
      [
        [
          ['control', 'drought'],
          [days, days],
        ],
      ],
      'count',
    ]);
    const greatest = await dataOf(await make('line', [source('x', 'npq'), source('y', 'npq', { aggregate: 'max' })]));
    expect(greatest.series[0].points.y).toEqual(greatest.series[0].points.x);
    const gaps = await dataOf(await make('bar', [source('x', 'spad'), source('y', '*', { aggregate: 'count' })]));
    const [{ points }] = gaps.series;
    expect(points.y[points.x.indexOf(null)]).toBeGreaterThan(0);
  });

  test('is for those who may read the table, and for charts that are whole', async () => {
    const owner = site.as(site.cast.owner);
    const path = await make('line', [source('x', 'measured_at'), source('y', 'spad')]);
    expect((await site.as(site.cast.stranger)('GET', `${path}/data`)).status).toBe(403);
    const draft = await make('line', [source('x', 'measured_at')]);
    expect(await owner('GET', `${draft}/data`)).toMatchObject({
      status: 409,
      body: { code: 'VISUALIZATION_INCOMPLETE', detail: expect.stringContaining('y') },
    });
    expect((await owner('GET', `${draft}/image`)).status).toBe(409);
    const wrong = await make('bar', [source('x', 'treatment'), source('y', 'site')]);
    expect(await owner('GET', `${wrong}/data`)).toMatchObject({ status: 400, body: { detail: expect.stringContaining("'site'") } });
    const unknown = await make('line', [source('y', 'no_such_column')]);
    expect((await owner('GET', `${unknown}/data`)).status).toBe(400);
    await owner('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility: 'public' } });
    expect(await site.as(site.cast.stranger)('GET', `${path}/data`)).toMatchObject({ status: 403, body: { code: 'TABLE_DENIED' } });
    expect((await site.as(site.cast.stranger)('GET', `${path}/image`)).body.code).toBe('TABLE_DENIED');
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.as(site.cast.viewer)('GET', `${path}/data`)).status).toBe(200);
  });
});

describe('error bars', () => {
  const owner = () => site.as(site.cast.owner);
  const bars = (y: object, more: object = {}) => make('bar', [source('x', 'treatment'), source('y', 'height', y)], more);

  test.each(['std', 'sem', 'ci95'])('of the rows themselves, by %s, beside their mean', async (error) => {
    const { series } = await dataOf(await bars({ aggregate: 'avg', error }));
    const functions = [
      { column: 'height', function: 'avg', alias: 'mean' },
      { column: 'height', function: error, alias: 'error' },
    ];
    const aggregation = JSON.stringify({ groupBy: [{ column: 'treatment' }], functions });
    const read = await owner()('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'leaves', aggregation } });
    const { rows } = read.body[0].data;
    const wanted = rows.toSorted((a: any, b: any) => a.treatment.localeCompare(b.treatment));
    expect(series[0].points.y).toEqual(wanted.map(({ mean }: any) => mean));
    expect(series[0].points.error).toEqual(wanted.map(({ error: half }: any) => half));
    expect(series[0].points.error[0]).toBeGreaterThan(0);
  });

  test('by the alias or the name of a function; a column of rows is not averaged again', async () => {
    const functions = [
      { column: 'height', function: 'avg' },
      { column: 'height', function: 'std', alias: 'spread' },
      { column: 'height', function: 'sem' },
    ];
    const spread = await dataOf(await bars({ errorColumn: 'spread' }, { aggregation: { groupBy: [], functions } }));
    expect(spread.series[0].points.error).toEqual((await dataOf(await bars({ aggregate: 'avg', error: 'std' }))).series[0].points.error);
    const sem = await dataOf(await bars({ errorColumn: 'height_sem' }, { aggregation: { groupBy: [], functions } }));
    expect(sem.series[0].points.error).toEqual((await dataOf(await bars({ aggregate: 'avg', error: 'sem' }))).series[0].points.error);
    const dots = await make('dot-plot', [source('x', 'treatment'), source('y', 'height', { aggregate: 'avg', error: 'sem' })]);
    expect(await owner()('GET', `${dots}/data`)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('no error bars') } });
    for (const y of [{ aggregate: 'avg', errorColumn: 'sd' }, { aggregate: 'max', error: 'sem' }, { error: 'sem' }])
      expect(await owner()('GET', `${await bars(y)}/data`)).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/error/i) },
      });
  });
});

describe('GET /api/v1/experiments/{id}/visualizations/{visualizationId}/image', () => {
  test('honours its config, and refuses what it does not know by name', async () => {
    const owner = site.as(site.cast.owner);
    const picture = async (config: object, more: object = {}) => {
      const dataConfig = {
        tableName: 'leaves',
        dataSources: [source('x', 'treatment'), source('y', 'height', { aggregate: 'avg', error: 'sem' })],
      };
      const body = { name: 'Asked', chartFamily: 'basic', chartType: 'bar', config, dataConfig, ...more };
      const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body });
      expect(made.status, made.text).toBe(201);
      return owner('GET', `/api/v1/experiments/${id}/visualizations/${String(made.body.id)}/image`);
    };
    const config = {
      title: 'Height',
      theme: 'dark',
      x: { title: 'what was done' },
      y: { title: 'cm', range: [0, 400] },
      client: { zoom: [1] },
    };
    const asked = await picture(config);
    expect(asked.status, asked.text).toBe(200);
    for (const word of ['>Height<', '>what was done<', '>cm<', '>400<', '#16181d']) expect(asked.text).toContain(word);
    const narrow = await picture({ y: { range: [100, 100.001] } }, { chartType: 'scatter' });
    expect(narrow.status, narrow.text).toBe(200);
    expect(Number(/<svg[^>]* height="([\d.]+)"/.exec(narrow.text)?.[1])).toBeLessThan(600);
    const refusals: [object, RegExp][] = [
      [{ colour: 'red' }, /colour/],
      [{ x: { titel: 'x' } }, /titel/],
      [{ colors: ['red'] }, /colour such as/],
      [{ y: { range: [4, 1] } }, /config\.y\.range/],
      [{ y: { range: [0, 400], scale: 'log' } }, /logarithmic/],
      [{ x: { scale: 'log' } }, /no x axis/],
      [{ y2: { range: [0, 1] } }, /no y2 axis/],
      [{ dpi: 3_000 }, /"path":"\/config\/dpi","message":"must be at most 300"/],
      [{ fontSize: 5 }, /must be at least 6/],
    ];
    for (const [wrong, words] of refusals) {
      const refused = await picture({ ...config, ...wrong });
      expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(words)]);
    }
    const heights = { dataConfig: { tableName: 'leaves', dataSources: [source('y', 'height')] } };
    const plain: [string, object, RegExp][] = [
      ['histogram', { y: { scale: 'log' } }, /no logarithmic scale of y; take it out of config\.y/],
      ['radar', { y: { range: [0, 1] } }, /no range of y/],
    ];
    for (const [chartType, look, words] of plain) {
      expect((await picture({}, { ...heights, chartType })).status).toBe(200);
      expect(await picture(look, { ...heights, chartType })).toMatchObject({ status: 400, body: { detail: expect.stringMatching(words) } });
    }
    expect((await picture({ y: { range: [0, 400] } }, { ...heights, chartType: 'histogram' })).text).toContain('>400<');
    const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, {
      body: {
        name: 'Fine',
        chartFamily: 'basic',
        chartType: 'line',
        config: { dpi: 300 },
        dataConfig: { tableName: 'leaves', dataSources: [source('y', 'height')] },
      },
    });
    const fine = (width: number) =>
      owner('GET', `/api/v1/experiments/${id}/visualizations/${String(made.body.id)}/image`, {
        query: { format: 'png', width, height: width },
      });
    expect((await fine(1_000)).bytes.readUInt32BE(16)).toBeGreaterThan(3_125);
    expect(await fine(2_000)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('million dots') } });
    expect(await picture({}, { chartFamily: '3d' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('two dimensions') },
    });
  });

  test.each(CHART_TYPES)('draws a %s from rows', async (type) => {
    const path = await make(type, sourcesOf(type));
    const svg = await site.as(site.cast.owner)('GET', `${path}/image`);
    expect(svg.status, svg.text.slice(0, 300)).toBe(200);
    expect(svg.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
    expect(svg.text).toContain(`A ${type}`);
    expect(svg.bytes.length).toBeGreaterThan(1_000);
    const png = await site.as(site.cast.owner)('GET', `${path}/image`, { query: { format: 'png' } });
    expect(png.status, png.text.slice(0, 300)).toBe(200);
    expect(png.bytes.length).toBeGreaterThan(1_000);
    expect(/NaN|Infinity|No data/.exec(svg.text)?.[0]).toBeUndefined();
  });

  test.each(['box-plot', 'violin-plot'])('of a %s by moments, which are named below it', async (type) => {
    const filters = [{ column: 'measured_at', operator: 'less_than', value: '2026-05-04T00:00:00Z' }];
    const path = await make(type, [source('x', 'measured_at'), source('y', 'height')], { filters });
    const svg = await site.as(site.cast.owner)('GET', `${path}/image`);
    expect(svg.status, svg.text.slice(0, 300)).toBe(200);
    for (const day of ['2026-05-01', '2026-05-02', '2026-05-03']) expect(svg.text).toContain(day);
  });

  test('as PNG by format or Accept, in the size that is asked', async () => {
    const path = await make('bar', [source('x', 'treatment'), source('y', 'spad', { aggregate: 'avg' })]);
    const owner = site.as(site.cast.owner);
    const png = await owner('GET', `${path}/image`, { query: { format: 'png', width: 200, height: 150 } });
    expect(png).toMatchObject({ status: 200 });
    expect(png.headers.get('content-type')).toBe('image/png');
    const image = await owner('GET', `${path}/image`, { headers: { accept: 'image/png' } });
    expect(image.headers.get('content-type')).toBe('image/png');
    expect(image.headers.get('vary')?.split(', ').sort()).toEqual(['Accept', 'Origin']);
    expect((await owner('GET', `${path}/image`, { query: { width: 5_000 } })).status).toBe(400);
    expect((await owner('GET', `${path}/image`, { query: { format: 'gif' } })).status).toBe(400);
  });

  test('one at a time for each person, and none that takes too long', async () => {
    const ctx = await site.context();
    const asker = { caller: { userId: site.cast.viewer.id } as Caller, signal: new AbortController().signal };
    const dataConfig = { tableName: 'leaves', dataSources: [source('x', 'measured_at'), source('y', 'spad')] } as unknown as DataConfig;
    const chart = { experimentId: id, name: 'Leaves', config: {}, chartFamily: 'basic', chartType: 'scatter', dataConfig } as const;
    const draw = async (given: Drawing, several: number) => {
      const drawingShares = new FairShares({ perCaller: 1, perOwner: 1, waiting: 1, waitMs: 60_000 });
      const pictures = Array.from({ length: several }, () =>
        drawPicture({ ...ctx, drawing: { ...ctx.drawing, pictures: given }, drawingShares }, asker, chart, {
          format: 'svg',
          width: 640,
          height: 400,
        }),
      );
      return Promise.allSettled(pictures).finally(() => given.close());
    };
    const [first, second, third] = await draw(new Drawing(), 3);
    expect(first).toMatchObject({ status: 'fulfilled', value: { type: 'image/svg+xml', body: expect.stringContaining('<svg') } });
    expect(second).toEqual(first);
    expect(third).toMatchObject({ reason: { status: 429, code: 'CALLER_BUSY' } });
    const [late] = await draw(new Drawing({ mostMs: 1 }), 1);
    expect(late).toMatchObject({ reason: { status: 400, code: 'QUERY_REFUSED', message: expect.stringContaining('too long to draw') } });
  });
});

describe('GET /api/v1/experiments/{id}/chart', () => {
  const dataSources = [source('x', 'treatment'), source('y', 'height', { aggregate: 'avg', error: 'sem' })];
  const bars = { chartType: 'bar', name: 'A bar', config: { y: { title: 'cm' } }, dataConfig: { tableName: 'leaves', dataSources } };
  const draw = (chart: unknown, more: object = {}, person = site.cast.owner) =>
    site.as(person)('GET', `/api/v1/experiments/${id}/chart`, {
      query: { chart: typeof chart === 'string' ? chart : JSON.stringify(chart), ...more },
    });

  test('draws what a stored chart would be, and stores nothing', async () => {
    const owner = site.as(site.cast.owner);
    const { chartType, name, config, dataConfig } = bars;
    const body = { name, chartFamily: 'basic', chartType, config, dataConfig };
    const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body });
    const path = `/api/v1/experiments/${id}/visualizations/${String(made.body.id)}/image`;
    const stored = async () => (await owner('GET', `/api/v1/experiments/${id}/visualizations`)).headers.get('x-total-count');
    const before = await stored();
    for (const [format, type] of [
      ['svg', 'image/svg+xml'],
      ['png', 'image/png'],
      ['vega-lite', 'application/vnd.vegalite.v6+json'],
    ] as const) {
      const [drawn, kept] = [await draw(body, { format }), await owner('GET', path, { query: { format } })];
      expect([drawn.status, drawn.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
      expect(drawn.bytes.length).toBeGreaterThan(1_000);
      expect(drawn.bytes.equals(kept.bytes)).toBe(true);
    }
    const spec = JSON.parse((await draw(bars, { format: 'vega-lite' })).text) as {
      title: string;
      layer: { data: { values: unknown[] } }[];
    };
    expect(spec.title).toBe('A bar');
    expect(spec.layer[0]?.data.values).toHaveLength(2);
    expect(await stored()).toBe(before);
  });

  test.each<[string, unknown, number, RegExp]>([
    ['no JSON', '{bars', 400, /valid JSON/],
    ['an unknown type', { ...bars, chartType: 'cake' }, 400, /chartType/],
    ['an unknown member', { ...bars, colour: 1 }, 400, /colour/],
    ['an unknown family', { ...bars, chartFamily: 'cake' }, 400, /chartFamily/],
    ['a family without pictures', { ...bars, chartFamily: '3d' }, 400, /QUERY_REFUSED/],
    ['an unknown look', { ...bars, config: { colour: 1 } }, 400, /colour/],
    ['a missing column', { ...bars, dataConfig: { tableName: 'leaves', dataSources: [source('x', 'treatment')] } }, 409, /chosen for y/],
    [
      'an unknown table',
      { ...bars, dataConfig: { tableName: 'nothing', dataSources: [{ ...source('y', 'height'), tableName: 'nothing' }] } },
      404,
      /TABLE_NOT_FOUND/,
    ],
    ['too long a chart', { ...bars, name: 'x'.repeat(12_001) }, 400, /chart/],
  ])('refuses %s', async (_what, wrong, status, words) => {
    expect((await draw(bars)).status).toBe(200);
    const refused = await draw(wrong);
    expect([refused.status, refused.text]).toEqual([status, expect.stringMatching(words)]);
  });

  test('counts every row up to 50,000, and is drawn from a sample of more, which it says', async () => {
    const owner = site.as(site.cast.owner);
    const line = (n: number) => `${n % 2 === 0 ? 40 : 20}\n`;
    const rows = (count: number) => `spad\n${Array.from({ length: count }, (_, n) => line(n)).join('')}`;
    const table = await uploadTable(owner, id, 'alternating', rows(50_000));
    const draw = async (chartType = 'histogram') => {
      const dataSources = [{ tableName: 'alternating', columnName: 'spad', role: 'y' }];
      const chart = JSON.stringify({ chartType, dataConfig: { tableName: 'alternating', dataSources } });
      const answer = await owner('GET', `/api/v1/experiments/${id}/chart`, { query: { chart, format: 'vega-lite' } });
      expect(answer.status, answer.text).toBe(200);
      return JSON.parse(answer.text);
    };
    const whole = await draw();
    expect(whole.data.values.map(({ n }: { n: number }) => n)).toEqual([25_000, 25_000]);
    expect(JSON.stringify(whole.title)).not.toContain('first');
    await appendTo(owner, id, table, rows(1));
    const sample = await draw();
    const [drawn = ''] = /[\d,]+(?= of 50,001 rows, picked evenly)/.exec(sample.title.subtitle[0]) ?? [];
    expect(sample.title.subtitle).toEqual([`Drawn from ${drawn} of 50,001 rows, picked evenly.`]);
    const counts: number[] = sample.data.values.map(({ n }: { n: number }) => n);
    expect(counts.reduce((sum, n) => sum + n)).toBe(Number(drawn.replace(',', '')));
    for (const n of counts) expect(Math.abs(n - 24_400)).toBeLessThan(600);
    // bars without a place are one for each row
    expect((await draw('bar')).title.subtitle[0]).toBe('Of the first 50,000 rows; what comes after them is missing.');
  });

  test.each([
    ['bar', 'x', 'y'],
    ['pie', 'labels', 'values'],
  ])('sums of a %s are those of every row, however many they are', async (chartType, place, measure) => {
    const owner = site.as(site.cast.owner);
    const rows = (plot: string, count: number) => `${plot},2\n`.repeat(count);
    await uploadTable(owner, id, `summed_${chartType}`, `plot,spad\n${rows('a', 60_000)}${rows('b', 30_000)}`);
    const sources = [source(place, 'plot'), source(measure, 'spad')].map((each) => ({ ...each, tableName: `summed_${chartType}` }));
    const chart = { chartType, dataConfig: { tableName: `summed_${chartType}`, dataSources: sources } };
    const { text } = await draw(chart, { format: 'vega-lite' });
    expect(JSON.parse(text).title.subtitle).toBeUndefined();
    const numbers = [...text.matchAll(/(?<=:)\d+(?=[,}\]])/g)].map(Number);
    expect(numbers).toEqual(expect.arrayContaining([120_000, 60_000]));
  });

  test('draws the table as it was in a version', async () => {
    const owner = site.as(site.cast.owner);
    const table = await uploadTable(owner, id, 'grown', 'plot,spad\na,10\nb,20\n');
    const sources = [source('x', 'plot'), source('y', 'spad')].map((each) => ({ ...each, tableName: 'grown' }));
    const chart = { chartType: 'bar', dataConfig: { tableName: 'grown', dataSources: sources } };
    const valuesOf = async (more: object = {}) => {
      const drawn = await draw(chart, { format: 'vega-lite', ...more });
      expect(drawn.status, drawn.text).toBe(200);
      const values = /"values":(\[[^\]]*\])/.exec(drawn.text)?.[1] ?? '[]';
      return { version: Number(drawn.headers.get('x-table-version')), count: (JSON.parse(values) as unknown[]).length };
    };
    const before = await valuesOf();
    expect(before.count).toBe(2);
    await appendTo(owner, id, table, 'plot,spad\nc,30\n');
    const { version } = await valuesOf();
    expect(version).toBeGreaterThan(before.version);
    expect((await valuesOf()).count).toBe(3);
    expect(await valuesOf({ asOf: before.version })).toEqual(before);
    expect(await valuesOf({ asOf: version })).toEqual({ version, count: 3 });
    const unknown = await draw(chart, { asOf: version + 1 });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'TABLE_VERSION_UNKNOWN']);
    expect((await draw(chart, { asOf: 'newest' })).status).toBe(400);
    // who may not read the table reads no version of it
    expect((await draw(chart, { asOf: before.version }, site.cast.stranger)).status).toBe(403);
  });

  test('is for whoever may read the experiment', async () => {
    expect((await draw(bars)).status).toBe(200);
    expect((await draw(bars, {}, site.cast.stranger)).status).toBe(403);
  });
});

test('every chart type compiles to one bounded read', () => {
  for (const type of CHART_TYPES) {
    const plan = compileChart(type, { tableName: 'leaves', dataSources: sourcesOf(type) } as unknown as DataConfig);
    expect(plan.series.length).toBeGreaterThan(0);
    expect(plan.request.limit).toBeGreaterThan(0);
  }
});
