import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printSampleCsv } from '../../src/operator/sample/measurements.ts';
import { CHART_TYPES, type ChartType } from '../../src/api/visualizations/visualizations.model.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

/** Where the pictures go, to be looked at: `IMAGES=folder`, or build/images. */
const FOLDER = process.env['IMAGES'] ?? join(import.meta.dirname, '..', '..', 'build', 'images');

type Roles = Record<string, string | string[]>;
const THREE = ['spad', 'phi2', 'leaf_temperature'];
const OVER_TIME: Roles = { x: 'measured_at', y: 'spad', color: 'treatment' };
const BY_TREATMENT: Roles = { x: 'genotype', y: 'spad', color: 'treatment' };
const PLANE: Roles = { x: 'phi2', y: 'spad' };
const CELLS: Roles = { x: 'plot', y: 'measured_at', z: 'spad' };

/** A sensible picture of each type from the columns of the sample. */
const PICTURES: Record<ChartType, { roles: Roles; aggregate?: string; bucket?: string }> = {
  line: { roles: OVER_TIME, aggregate: 'avg', bucket: 'day' },
  scatter: { roles: { ...PLANE, color: 'treatment' } },
  bar: { roles: BY_TREATMENT, aggregate: 'avg' },
  pie: { roles: { labels: 'genotype' } },
  area: { roles: OVER_TIME, aggregate: 'avg', bucket: 'week' },
  'dot-plot': { roles: BY_TREATMENT },
  bubble: { roles: { x: 'phi2', y: 'spad', size: 'leaf_temperature', color: 'treatment' } },
  lollipop: { roles: { x: 'plot', y: 'spad' }, aggregate: 'avg' },
  'box-plot': { roles: BY_TREATMENT },
  histogram: { roles: { y: 'spad', color: 'treatment' } },
  'violin-plot': { roles: BY_TREATMENT },
  'density-plot': { roles: { y: 'spad', color: 'treatment' } },
  'ridge-plot': { roles: { y: 'spad', color: 'genotype' } },
  'histogram-2d': { roles: PLANE },
  'density-plot-2d': { roles: PLANE },
  'spc-control-chart': { roles: { x: 'measured_at', y: 'spad' }, aggregate: 'avg', bucket: 'day' },
  heatmap: { roles: CELLS, aggregate: 'avg', bucket: 'week' },
  contour: { roles: CELLS, aggregate: 'avg', bucket: 'week' },
  carpet: { roles: { x: 'plot', y: 'phi2', z: 'spad' } },
  ternary: { roles: { x: 'spad', y: 'leaf_temperature', z: 'plot', color: 'treatment' } },
  'parallel-coordinates': { roles: { y: THREE, color: 'treatment' } },
  'wind-rose': { roles: { x: 'leaf_temperature', y: 'spad' } },
  radar: { roles: { y: THREE, color: 'treatment' } },
  polar: { roles: { x: 'plot', y: 'spad', color: 'treatment' } },
  'correlation-matrix': { roles: { y: THREE } },
  alluvial: { roles: { groupBy: ['genotype', 'treatment'] } },
};

let site: TestServer;
let owner: Call;
let id: string;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Pictures', organizationId: site.cast.leafLab } })).body.id;
  await uploadTable(owner, id, 'leaves', printSampleCsv());
});
afterAll(() => site.stop());

test.each(CHART_TYPES)('a %s of the sample', async (type) => {
  const { roles, aggregate, bucket } = PICTURES[type];
  const measured = new Set(['y', 'z'].filter((role) => role === 'z' || !('z' in roles)));
  const dataSources = Object.entries(roles).flatMap(([role, columns]) =>
    [columns].flat().map((columnName) => ({
      tableName: 'leaves',
      columnName,
      role,
      ...(aggregate !== undefined && measured.has(role) ? { aggregate } : {}),
    })),
  );
  const grouped = Object.entries(roles).flatMap(([role, columns]) =>
    aggregate === undefined || measured.has(role) || role === 'color' ? [] : [columns].flat(),
  );
  const groupBy = grouped.map((column) => ({
    column,
    ...(column === 'measured_at' && bucket !== undefined ? { timeBucket: bucket } : {}),
  }));
  const body = {
    name: `Sample: ${type}`,
    chartFamily: 'basic',
    chartType: type,
    dataConfig: { tableName: 'leaves', dataSources, ...(groupBy.length > 0 ? { aggregation: { groupBy, functions: [] } } : {}) },
  };
  const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body });
  expect(made.status, made.text).toBe(201);
  const path = `${site.server.baseUrl}/api/v1/experiments/${id}/visualizations/${made.body.id}/image?format=png`;
  const answer = await fetch(path, { headers: { 'x-api-key': site.cast.owner.apiKey } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(answer.status, answer.status === 200 ? '' : bytes.toString('utf8')).toBe(200);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${type}.png`), bytes);
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
});
