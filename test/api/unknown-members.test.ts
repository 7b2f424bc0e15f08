import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn } from '../support/browser.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
const make = async (path: string, body: object): Promise<string> => {
  const made = await owner()('POST', path, { body });
  expect(made.status, made.text).toBe(201);
  return `${path}/${String(made.body.id)}`;
};
const column = (columnName: string, role: string) => ({ tableName: 'raw_data', columnName, role });
const lab = () => `/api/v1/organizations/${site.cast.leafLab}`;
const fieldsOf = async (action: string) =>
  (await owner()('GET', `${lab()}/audit`, { query: { action } })).body.map(
    ({ details }: { details: { fields: string[] } }) => details.fields,
  );

test('what a change does not know changes nothing: no version, no time, no line in the audit log', async () => {
  const organizationId = site.cast.leafLab;
  const experiment = await make('/api/v1/experiments', { name: 'Known', organizationId });
  const chart = {
    name: 'Chart',
    chartFamily: 'basic',
    chartType: 'line',
    dataConfig: { tableName: 'raw_data', dataSources: [column('latitude', 'x'), column('longitude', 'y')] },
  };
  const changeable = {
    'experiment.updated': experiment,
    'macro.updated': await make('/api/v1/macros', { name: 'Macro', language: 'python', code: '1', organizationId }),
    'protocol.updated': await make('/api/v1/protocols', { name: 'Protocol', code: [{}], family: 'multispeq', organizationId }),
    'workbook.updated': await make('/api/v1/workbooks', { name: 'Workbook', organizationId }),
    'device-group.updated': await make('/api/v1/device-groups', { name: 'Group', organizationId }),
    'dashboard.updated': await make(`${experiment}/dashboards`, { name: 'Board' }),
    'visualization.updated': await make(`${experiment}/visualizations`, chart),
    'webhook.updated': await make(`${lab()}/webhooks`, { url: 'https://example.org/hook', kinds: ['experiment.created'] }),
  };
  for (const [action, path] of Object.entries(changeable)) {
    const method = action === 'macro.updated' ? 'PUT' : 'PATCH';
    const before = await owner()('GET', path);
    const unknown = await owner()(method, path, { body: { visibility: 'public', nonsense: 1 } });
    expect(unknown.status, unknown.text).toBe(200);
    const after = await owner()('GET', path);
    expect([action, after.body, after.headers.get('etag')]).toEqual([action, before.body, before.headers.get('etag')]);
    expect([action, await fieldsOf(action)]).toEqual([action, []]);
    const rename = action === 'webhook.updated' ? { description: 'New' } : { name: 'New' };
    expect((await owner()(method, path, { body: { ...rename, nonsense: 1 } })).status).toBe(200);
    expect([action, (await fieldsOf(action)).flat()]).toEqual([action, Object.keys(rename)]);
  }
});

test('an organization is changed by what is known of it', async () => {
  const browser = await signIn(site, 'owner@example.com');
  const change = (data: object) => browser.call('POST', '/api/v1/auth/organization/update', { organizationId: site.cast.leafLab, data });
  const etag = async () => (await owner()('GET', lab())).headers.get('etag');
  const before = await etag();
  for (const data of [{}, { nonsense: 1 }]) expect((await change(data)).status).toBe(200);
  expect(await etag()).toBe(before);
  expect((await change({ location: 'De Bilt', nonsense: 1 })).status).toBe(200);
  expect(await fieldsOf('organization.updated')).toEqual([['location']]);
  expect(await etag()).not.toBe(before);
});

test('an archived experiment is opened again by a status beside what is not known', async () => {
  const experiment = await make('/api/v1/experiments', { name: 'Closed', status: 'archived' });
  expect((await owner()('PATCH', experiment, { body: { status: 'active', name: 'Open' } })).body.code).toBe('EXPERIMENT_ARCHIVED');
  expect((await owner()('PATCH', experiment, { body: { status: 'active', nonsense: 1 } })).body.status).toBe('active');
});

test('a member called __proto__ is refused where it would be left out, and other odd names are kept', async () => {
  const experiment = await make('/api/v1/experiments', { name: 'Odd names' });
  const odd = { constructor: 1, prototype: 2, toString: 3 };
  const proto: unknown = JSON.parse('{"__proto__": 4}');
  const chart = (config: unknown) => ({
    name: 'Chart',
    chartFamily: 'basic',
    chartType: 'line',
    config,
    dataConfig: { tableName: 'raw_data', dataSources: [column('latitude', 'x')] },
  });
  const table = (row: unknown) => ({
    metadata: {
      name: 'Plots',
      columns: [{ id: 'constructor', name: 'plot', type: 'string' }],
      rows: [{ _id: '1' }, row],
      identifierColumnId: 'constructor',
      experimentQuestionId: 'plot',
    },
  });
  const send = (path: string, body: object) => owner()('POST', `${experiment}/${path}`, { body });
  expect((await send('visualizations', chart(odd))).body.config).toEqual(odd);
  expect((await send('metadata', table({ _id: '2', ...odd }))).body.metadata.rows[1]).toEqual({ _id: '2', ...odd });
  expect((await send('visualizations', chart(proto))).body).toMatchObject({ status: 400, errors: [{ path: '/config' }] });
  expect((await send('metadata', table(Object.assign(proto as object, { _id: '2' })))).body).toMatchObject({
    status: 400,
    errors: [{ path: '/metadata/rows/1', message: expect.stringContaining('__proto__') }],
  });
});
