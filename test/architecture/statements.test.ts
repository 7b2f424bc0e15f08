import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readJson } from '../../src/json.ts';
import { grow, makeGrownWorld, type GrownWorld } from '../support/grown-world.ts';
import { statementsOf } from '../support/operators.ts';
import { spawnServer } from '../support/process.ts';
import { callsTo, startTestServer, type TestServer } from '../support/server.ts';

interface Schema {
  $ref?: string;
  type?: string;
  maximum?: number;
  properties?: Record<string, Schema>;
}
interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}
const document = readJson(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as {
  paths: Record<string, { get?: Operation }>;
  components: { schemas: Record<string, Schema> };
};

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolved(document.components.schemas[schema.$ref.split('/').pop() ?? ''] ?? {});
const isList = (schema: Schema) => resolved(schema).type === 'array';

/** Reads that answer a list, or an object with a list. */
const lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
  const schema = get?.responses['200']?.content?.['application/json']?.schema;
  return get && schema && (isList(schema) || Object.values(resolved(schema).properties ?? {}).some(isList)) ? [{ path, get }] : [];
});

/** Lists that do not grow with what people add. */
const FIXED: Readonly<Record<string, string>> = {
  '/api/v1/auth/list-accounts': 'at most one a provider',
  '/api/v1/auth/providers': 'those that are set up; asks no table',
  '/api/v1/iot/firmware/{family}/releases': 'what GitHub tells, kept in one row',
  '/api/v1/locations/geocode': 'asks no table',
  '/api/v1/locations/search': 'asks no table',
  '/api/v1/organizations/{id}/deletion-blockers': 'a row a kind of resource',
  '/api/v1/macros/{id}': 'warnings are read off the code',
  '/api/v1/experiments/{id}/dashboards/{dashboardId}': 'widgets stand in its row',
  '/api/v1/experiments/{id}/metadata/{metadataId}': 'columns and rows stand in its row',
  '/api/v1/workbooks/{id}': 'cells stand in its row',
  '/api/v1/workbooks/{id}/problems': 'problems are read off the cells of its row',
  '/api/v1/workbooks/{id}/versions/{versionId}': 'cells stand in its row',
  '/api/v1/organizations/{id}/webhooks/{webhookId}': 'kinds stand in its row',
  '/api/v1/organizations/{id}/webhooks/{webhookId}/deliveries/{deliveryId}': 'at most as many tries as its schedule has',
  '/api/v1/experiments/{id}/data/uploads/{uploadId}': 'files of one request',
};

/** Members of the longest list in an answer. */
const longest = (body: unknown): number =>
  Array.isArray(body)
    ? Math.max(body.length, ...body.map((each) => (typeof each === 'object' ? longest((each as { data?: unknown }).data ?? null) : 0)))
    : Math.max(0, ...Object.values(body ?? {}).map((value) => (Array.isArray(value) ? value.length : 0)));

let site: TestServer;
let world: GrownWorld;
beforeAll(async () => {
  site = await startTestServer();
  world = await makeGrownWorld(site);
});
afterAll(() => site.stop());

function addressOf(path: string): string {
  const { experiment, macro, device, group, workbook, visualization, webhook, upload, protocol } = world;
  const { leafLab, owner } = site.cast;
  const of: Record<string, string> = {
    '/api/v1/organizations/{id}/join-requests': world.open,
    '/api/v1/organizations': leafLab,
    '/api/v1/users': owner.id,
    '/api/v1/experiments': experiment,
    '/api/v1/macros': macro,
    '/api/v1/protocols': protocol,
    '/api/v1/workbooks': workbook,
    '/api/v1/{resourceType}/{id}/collaborators': macro,
    '/api/v1/{resourceType}/{id}/grantee-teams': macro,
    '/api/v1/{resourceType}/{id}/grantee-users': macro,
  };
  const [, id = ''] = Object.entries(of).find(([start]) => path.startsWith(start)) ?? [];
  const named: Record<string, string> = {
    id,
    resourceType: 'macro',
    deviceId: device,
    groupId: group,
    webhookId: webhook,
    macroId: macro,
    visualizationId: visualization,
    uploadId: upload,
  };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!named[name]) throw new Error(`${path}: what is ${name}?`);
    return named[name];
  });
}

/** As many members as one answer may have. */
function queryOf(path: string, { parameters = [] }: Operation): Record<string, string | number> {
  const { leafLab } = site.cast;
  const known: Record<string, string | number> = {
    from: '2026-05-01T00:00:00Z',
    to: '2026-05-07T00:00:00Z',
    bucket: 'hour',
    page: 1,
    offset: 0,
    organizationId: leafLab,
    teamId: world.team,
    resourceType: 'macro',
    resourceId: world.macro,
    query: path.includes('users') ? 'grown' : 'Grown',
    tableName: `rows_${world.serial}`,
    column: 'n',
  };
  const wanted = parameters.filter((each) => each.in === 'query').map(({ name, schema }) => [name, schema] as const);
  return Object.fromEntries(
    wanted.flatMap(([name, schema]) => {
      // the whole of a log is asked for
      if (path.endsWith('/audit') && ['from', 'to', 'resourceId'].includes(name)) return [];
      if (['pageSize', 'limit', 'membersLimit'].includes(name)) return [[name, Math.min(100, schema.maximum ?? 100)]];
      if (name === 'tableName' && path.endsWith('/exports')) return [[name, 'raw_data']];
      return known[name] === undefined ? [] : [[name, known[name]]];
    }),
  );
}

/** What no request sends: looking at the metrics, at most once a second (src/operator/gauges.service.ts), and the broker's sign of life (src/api/messages). */
const OF_ITSELF = ['lake.waiting', 'lakeLog.findLag', 'presence.beat'];

/** Each list asked once of a process that has just started, with its statements by label; nothing else runs in it. */
async function askAll() {
  const reader = await spawnServer({ DATABASE_URL: site.database.url, DATA_DIR: site.dataDir, WORKER: 'off' });
  const call = callsTo(reader.baseUrl)(null);
  const asked = new Map<string, { statements: string[]; members: number }>();
  try {
    for (const { path, get } of lists) {
      if (path in FIXED) continue;
      const before = await statementsOf({ server: reader });
      const answer = await call('GET', addressOf(path), { query: queryOf(path, get), headers: { cookie: world.cookie } });
      expect(answer.status, `${path} ${answer.text.slice(0, 300)}`).toBe(200);
      const after = await statementsOf({ server: reader });
      for (const label of OF_ITSELF) after.delete(label);
      const sent = [...after].flatMap(([label, count]) => Array.from({ length: count - (before.get(label) ?? 0) }, () => label));
      asked.set(path, { statements: sent.sort(), members: longest(answer.body) });
    }
  } finally {
    await reader.kill('SIGTERM');
  }
  return asked;
}

/** Members that each list gets: a statement for each of them shows with a few as well. */
const MORE = process.env['SOAK'] === undefined ? 19 : 99;

test(`a read sends the same statements for a list of one and of ${MORE + 1}`, async () => {
  const few = await askAll();
  await grow(world, MORE);
  const many = await askAll();
  const changed = [...many].filter(([path, { statements }]) => String(statements) !== String(few.get(path)?.statements));
  expect(changed.map(([path, { statements }]) => ({ path, few: few.get(path)?.statements, many: statements }))).toEqual([]);
  // and each of them had far more to answer
  const still = [...many].filter(([path, { members }]) => members < (few.get(path)?.members ?? 0) + 9);
  expect(still.map(([path, { members }]) => [path, few.get(path)?.members, members])).toEqual([]);
  expect(many.size).toBe(lists.length - Object.keys(FIXED).length);
});
