import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import type { BuiltSite } from './built-site.ts';
import { uploadTable } from './uploads.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;

/** What a caller may accept of each kind of answer. */
export const DATA_FORMATS = [
  'application/json',
  'text/csv',
  'application/x-ndjson',
  'application/vnd.apache.arrow.stream',
  'application/vnd.apache.parquet',
];
export const PICTURE_FORMATS = ['image/svg+xml', 'image/png', 'application/vnd.vegalite.v6+json'];

const DRAFT = {
  chartType: 'line',
  dataConfig: { tableName: 'leaves', dataSources: [{ tableName: 'leaves', columnName: 'spad', role: 'y' }] },
};

export interface GetRoute {
  /** As the document has it. */
  template: string;
  /** Something that is there, with its query. */
  path: string;
  accept: string;
}

const made = async (site: BuiltSite, path: string, body: unknown): Promise<Record<string, any>> => {
  const answer = await site.owner('POST', path, { body });
  if (answer.status !== 201 && answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return answer.body as Record<string, any>;
};

/** Waits until a job is over, and was not in vain. */
async function ended(site: BuiltSite, path: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const { body } = await site.owner('GET', path);
    if (body.status === 'completed') return;
    if (tries > 600) throw new Error(`${path} did not end: ${JSON.stringify(body)}`);
    await sleep(50);
  }
}

/** One of everything, so that most routes have something to answer. Ids by the collection that a path names before them. */
async function furnish(site: BuiltSite): Promise<Record<string, string>> {
  const organizationId = site.cast.leafLab;
  const own = { organizationId };
  const experiment = String((await made(site, '/api/v1/experiments', { name: 'Strange clients', ...own }))['id']);
  const base = `/api/v1/experiments/${experiment}`;
  const rows = Array.from({ length: 20_000 }, (_, index) => `2026-01-01T00:00:00Z,${index},${index % 7},plot ${index % 40}`);
  const table = await uploadTable(site.owner, experiment, 'leaves', ['at,n,spad,plot', ...rows].join('\n'));
  const source = (role: string, columnName: string) => ({ tableName: 'leaves', columnName, role });
  const visualization = await made(site, `${base}/visualizations`, {
    ...{ name: 'Line', chartFamily: 'basic', chartType: 'line' },
    dataConfig: { tableName: 'leaves', dataSources: [source('x', 'n'), source('y', 'spad')] },
  });
  const dashboard = await made(site, `${base}/dashboards`, { name: 'Board', layout: { columns: 12, rowHeight: 80, gap: 8 }, widgets: [] });
  const exported = await made(site, `${base}/data/exports`, { tableName: 'leaves', format: 'csv' });
  await made(site, `${base}/flow`, {
    nodes: [{ type: 'instruction', name: 'a', content: { text: 'Look' }, id: 'a', isStart: true }],
    edges: [],
  });
  const macro = await made(site, '/api/v1/macros', { name: 'M', code: 'output.a = 1', language: 'javascript', ...own });
  const protocol = await made(site, '/api/v1/protocols', { name: 'P', code: [{ a: 1 }], family: 'multispeq', ...own });
  const workbook = await made(site, '/api/v1/workbooks', { name: 'W', ...own });
  const device = await made(site, '/api/v1/devices', { serialNumber: 'STRANGE-1', deviceType: 'ambyte', ...own });
  const group = await made(site, '/api/v1/device-groups', { name: 'G', ...own });
  const webhook = await made(site, `/api/v1/organizations/${organizationId}/webhooks`, {
    url: 'https://hooks.example.org/field',
    kinds: ['experiment.created'],
  });
  await ended(site, `${base}/data/exports/${String(exported['exportId'])}/status`);
  const change = await site.owner('PATCH', `${base}/data/tables/${table}/columns/spad`, { body: { type: 'double' } });
  await ended(site, `${base}/data/tables/${table}/column-changes/${String(change.body.id)}`);
  const uploads = (await site.owner('GET', `${base}/data/uploads`)).body as { uploads?: { uploadId: string }[] };
  const row = (await site.owner('GET', `${base}/data?tableName=leaves&limit=1`)).body[0].data.rows[0] as Record<string, string>;
  return {
    ...{ experiments: experiment, organizations: organizationId, users: site.cast.owner.id, table },
    ...{ macros: String(macro['id']), protocols: String(protocol['id']), workbooks: String(workbook['id']) },
    ...{ devices: String(device['id']), 'device-groups': String(group['id']), webhooks: String(webhook['id']) },
    ...{ visualizations: String(visualization['id']), dashboards: String(dashboard['id']), exports: String(exported['exportId']) },
    ...{ uploads: uploads.uploads?.[0]?.uploadId ?? '', rows: row['id'] ?? '', tables: table, 'column-changes': String(change.body.id) },
  };
}

const DAY = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
/** Queries without which a route has nothing to answer. */
const QUERIES: Readonly<Record<string, string>> = {
  '/api/v1/search': 'query=strange',
  '/api/v1/users/search': 'query=owner',
  '/api/v1/locations/search': 'query=Wageningen',
  '/api/v1/locations/geocode': 'latitude=52&longitude=5.6',
  '/api/v1/devices/{deviceId}/firmware-history': `${DAY}&bucket=hour`,
  '/api/v1/devices/{deviceId}/monitoring': `${DAY}&bucket=hour`,
  '/api/v1/devices/{deviceId}/experiments/observed': DAY,
  '/api/v1/device-groups/{groupId}/monitoring': `${DAY}&bucket=hour`,
  '/api/v1/devices/monitoring': `${DAY}&bucket=hour`,
  '/api/v1/invitations': 'resourceType=experiment&resourceId={experiments}',
  '/api/v1/experiments/{id}/data/exports': 'tableName=leaves',
  '/api/v1/experiments/{id}/data/rows/{row}/lineage': 'tableName=leaves',
  '/api/v1/experiments/{id}/data': 'tableName=leaves',
  '/api/v1/experiments/{id}/chart': `chart=${encodeURIComponent(JSON.stringify(DRAFT))}`,
  '/api/v1/experiments/{id}/data/distinct': 'tableName=leaves&column=plot',
  '/api/v1/auth/organization/list-members': 'organizationId={organizations}',
  '/api/v1/auth/organization/list-teams': 'organizationId={organizations}',
  '/api/v1/auth/organization/get-full-organization': 'organizationId={organizations}',
};
const WORDS: Readonly<Record<string, string>> = { resourceType: 'experiment', family: 'ambyte', provider: 'github' };

function filled(template: string, ids: Readonly<Record<string, string>>): string {
  let collection = '';
  return template
    .split('/')
    .map((segment) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      const before = collection;
      collection = segment;
      if (name === undefined) return segment;
      if (before === '{resourceType}') return ids['experiments'] ?? '';
      return WORDS[name] ?? ids[before] ?? randomUUID();
    })
    .join('/');
}

/** Pages and files besides the document's operations. */
const OTHERS = ['/openapi.json', '/', '/docs/api', '/docs/page.js', '/docs/swagger-ui.css'];

/** Every GET operation of the document, and what is served besides, each in every format that it has. */
export async function getRoutes(site: BuiltSite): Promise<GetRoute[]> {
  const ids = await furnish(site);
  const operations = Object.entries(document.paths)
    // a stream of events has no end
    .filter(([template, item]) => item['get'] !== undefined && !template.endsWith('/changes'))
    .flatMap(([template]) => {
      const query = QUERIES[template]?.replace(/\{(\S+)\}/g, (_all, name: string) => ids[name] ?? '');
      const path = filled(template, ids) + (query === undefined ? '' : `?${query}`);
      const formats = /\/(image|chart)$/.test(template)
        ? PICTURE_FORMATS
        : template.endsWith('/{id}/data')
          ? DATA_FORMATS
          : ['application/json'];
      return formats.map((accept) => ({ template, path, accept }));
    });
  return [...operations, ...OTHERS.map((path) => ({ template: path, path, accept: '*/*' }))];
}
