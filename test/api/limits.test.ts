import { afterAll, beforeAll, expect, test } from 'vitest';
import { experimentWrites } from '../support/experiment-writes.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}
interface Operation {
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

let site: TestServer;
let owner: Call;
let document: { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } };
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  document = site.openapi as unknown as typeof document;
});
afterAll(() => site.stop());

const layout = { col: 0, row: 0, colSpan: 6, rowSpan: 4 };
const node = { type: 'instruction', name: 'a', content: { text: 'Look' } };
/** A body of each kind in which everything that has a limit is there. */
const BODIES: Record<string, Record<string, unknown>> = {
  locations: {
    locations: [
      {
        ...{ name: 'Field', latitude: 52, longitude: 5, country: 'Netherlands', region: 'Gelderland', municipality: 'Ede' },
        ...{ postalCode: '6700', addressLabel: 'A road' },
      },
    ],
  },
  metadata: {
    metadata: {
      name: 'Plots',
      columns: [{ id: 'c', name: 'plot', type: 'string' }],
      rows: [{ _id: '1', c: 'P1' }],
      identifierColumnId: 'c',
      experimentQuestionId: 'plot',
    },
  },
  flow: {
    nodes: [
      { ...node, id: 'a', isStart: true, position: { x: 1, y: 2 } },
      { ...node, id: 'b', name: 'b' },
    ],
    edges: [{ id: 'e', source: 'a', target: 'b', label: 'then', sourceHandle: 'out' }],
  },
  dashboards: {
    ...{ name: 'Board', description: 'Of a season', layout: { columns: 12, rowHeight: 80, gap: 8 } },
    widgets: [{ id: crypto.randomUUID(), layout, type: 'table', config: {} }],
  },
  visualizations: {
    ...{ name: 'Chart', description: 'Of a season', chartFamily: 'basic', chartType: 'line' },
    dataConfig: {
      tableName: 'raw_data',
      dataSources: [{ tableName: 'raw_data', columnName: 'timestamp', role: 'x', traceType: 'line', axis: 'primary' }],
    },
  },
  webhooks: { url: 'https://hooks.example.org/field', description: 'Ours', kinds: ['experiment.created'] },
};

/** Values beyond each limit of a schema, with why. */
function beyond({ anyOf, ...rest }: Schema, value: unknown): [string, unknown][] {
  const schema = anyOf?.[0] ?? rest;
  const found: [string, unknown][] = [];
  if (schema.enum) found.push(['none of its names', 'nonsense']);
  const form = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u');
  // what may be anything but blank is refused when it is blank
  if (form) found.push(['not of its form', ['not valid!', '   '].find((text) => !form.test(text))]);
  if (schema.minimum !== undefined) found.push(['too low', schema.minimum - 1]);
  if (schema.maximum !== undefined) found.push(['too high', schema.maximum + 1]);
  if (schema.minLength === 1) found.push(['empty', '']);
  if (schema.maxLength !== undefined) found.push(['too long', 'x'.repeat(schema.maxLength + 1)]);
  if (schema.minItems !== undefined && schema.minItems > 0) found.push(['too few', []]);
  if (schema.maxItems !== undefined && Array.isArray(value))
    found.push(['too many', Array.from({ length: schema.maxItems + 1 }, () => value[0] as unknown)]);
  return found;
}

type Walk = { path: string; problem: string; body: unknown }[];

/** Bodies that differ from a good one in one place, where they go beyond a limit. */
function spoiled(schema: Schema, value: unknown, path: string): Walk {
  if (schema.$ref !== undefined) return spoiled(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, value, path);
  const here = beyond(schema, value).map(([problem, body]) => ({ path, problem, body }));
  if (Array.isArray(value) && schema.items && value.length > 0)
    return [
      ...here,
      ...spoiled(schema.items, value[0], `${path}/0`).map((each) => ({ ...each, body: [each.body, ...(value.slice(1) as unknown[])] })),
    ];
  if (typeof value !== 'object' || value === null) return here;
  return [
    ...here,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
      if (!(name in value)) return [];
      const bodies = spoiled(inner, (value as Record<string, unknown>)[name], `${path}/${name}`);
      return bodies.map((each) => ({ ...each, body: { ...value, [name]: each.body } }));
    }),
  ];
}

const E = '/api/v1/experiments/{id}';
const WEBHOOKS = '/api/v1/organizations/{id}/webhooks';
const WRITES: [string, string][] = [
  ...['locations', 'metadata', 'flow', 'dashboards', 'visualizations'].map((kind): [string, string] => [`POST ${E}/${kind}`, kind]),
  ...['locations', 'flow'].map((kind): [string, string] => [`PUT ${E}/${kind}`, kind]),
  [`PUT ${E}/metadata/{metadataId}`, 'metadata'],
  [`PATCH ${E}/dashboards/{dashboardId}`, 'dashboards'],
  [`PATCH ${E}/visualizations/{visualizationId}`, 'visualizations'],
  [`POST ${WEBHOOKS}`, 'webhooks'],
  [`PATCH ${WEBHOOKS}/{webhookId}`, 'webhooks'],
];

async function target(name: string): Promise<string> {
  const [, template = ''] = name.split(' ');
  if (template.startsWith(WEBHOOKS)) {
    const webhooks = WEBHOOKS.replace('{id}', site.cast.leafLab);
    if (template === WEBHOOKS) return webhooks;
    return `${webhooks}/${String((await owner('POST', webhooks, { body: BODIES['webhooks'] })).body.id)}`;
  }
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Limited', organizationId: site.cast.leafLab } });
  const id = String(made.body.id);
  const { path } = await experimentWrites(site)[name]!.prepare(id);
  return Object.entries({ id, ...path }).reduce((filled, [key, value]) => filled.replace(`{${key}}`, value), template);
}

test.each(WRITES)('%s refuses what is beyond a limit, naming the place', async (name, kind) => {
  const [method = '', template = ''] = name.split(' ');
  const path = await target(name);
  const schema = document.paths[template]?.[method.toLowerCase()]?.requestBody?.content['application/json']?.schema ?? {};
  const bad = spoiled(schema, BODIES[kind], '');
  expect(bad.length).toBeGreaterThanOrEqual(4);
  const answers: string[] = [];
  for (const { path: place, problem, body } of bad) {
    const answer = await owner(method, path, { body });
    const places = ((answer.body?.errors ?? []) as { path: string }[]).map((each) => each.path);
    // a rule over all members may name the list, or the first of them
    if (answer.status !== 400 || !places.some((each) => each.startsWith(place) || place.startsWith(each)))
      answers.push(`${place} ${problem}: ${answer.status} ${places.join(' ')}`);
  }
  expect(answers).toEqual([]);
  const good = await owner(method, path, { body: BODIES[kind] });
  expect(good.status, good.text).toBeLessThan(300);
});

const READ =
  /^\/api\/v1\/(locations\/|newsletter\/|experiments\/\{id\}\/(locations|metadata|dashboards|visualizations)|organizations\/\{id\}\/webhooks)/;

test('every query parameter of these routes that has a limit refuses what is beyond it', async () => {
  const path = await target(`PATCH ${E}/visualizations/{visualizationId}`);
  const [, id = '', visualizationId = ''] = /experiments\/([^/]+)\/visualizations\/(.+)/.exec(path) ?? [];
  const webhookId = (await target(`PATCH ${WEBHOOKS}/{webhookId}`)).split('/').at(-1) ?? '';
  const wrong: string[] = [];
  let tried = 0;
  for (const [template, item] of Object.entries(document.paths).filter(([each]) => READ.test(each)))
    for (const [method, { parameters = [] }] of Object.entries(item)) {
      const filled = template
        .replace('{id}', template.startsWith(WEBHOOKS) ? site.cast.leafLab : id)
        .replace('{visualizationId}', visualizationId)
        .replace('{webhookId}', webhookId);
      const queries = parameters.filter((parameter) => parameter.in === 'query');
      const usual = Object.fromEntries(queries.filter(({ required }) => required === true).map(({ name }) => [name, '1']));
      for (const { name, schema } of queries) {
        const inner = schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
        for (const [problem, value] of beyond(inner, undefined)) {
          tried += 1;
          const answer = await owner(method.toUpperCase(), filled, { query: { ...usual, [name]: value as string } });
          if (answer.status !== 400) wrong.push(`${method} ${template} ${name} ${problem}: ${answer.status}`);
        }
      }
    }
  expect(wrong).toEqual([]);
  expect(tried).toBeGreaterThan(25);
});
