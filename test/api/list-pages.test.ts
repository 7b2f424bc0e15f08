import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const make = async (path: string, body: object) =>
  (await site.as(site.cast.owner)('POST', `/api/v1${path}`, { body: { organizationId: site.cast.leafLab, ...body } })).body.id as string;

/** Reads a list of two whole and in pages of one. */
async function expectPages(path: string) {
  const read = (query: Record<string, string>) => site.as(site.cast.owner)('GET', `/api/v1${path}`, { query });
  const whole = await read({});
  expect([path, whole.status, whole.body.length]).toEqual([path, 200, 2]);
  expect([path, whole.headers.get('x-total-count')]).toEqual([path, '2']);
  expect(whole.headers.get('link')).toContain('page=1&pageSize=100>; rel="last"');
  const [first, second] = [await read({ page: '1', pageSize: '1' }), await read({ page: '2', pageSize: '1' })];
  expect([path, ...first.body, ...second.body]).toEqual([path, ...whole.body]);
  expect(first.headers.get('link')).toContain('page=2&pageSize=1>; rel="next"');
  expect((await read({ pageSize: '101' })).status).toBe(400);
}

test('the lists of links, members, bindings and tables take page and pageSize', async () => {
  const owner = site.as(site.cast.owner);
  const [macros, protocols, devices, experiments] = await Promise.all([
    Promise.all(['a', 'b'].map((name) => make('/macros', { name, language: 'python', code: 'output["x"] = 1' }))),
    Promise.all(['a', 'b'].map((name) => make('/protocols', { name, family: 'multispeq', code: [{}] }))),
    Promise.all(['a', 'b'].map((serialNumber) => make('/devices', { serialNumber, deviceType: 'ambyte' }))),
    Promise.all(['a', 'b'].map((name) => make('/experiments', { name }))),
  ]);
  await owner('POST', `/api/v1/macros/${macros[0]}/protocols`, { body: { protocolIds: protocols } });
  await owner('POST', `/api/v1/protocols/${protocols[0]}/macros`, { body: { macroIds: macros } });
  const group = await make('/device-groups', { name: 'Roof' });
  await owner('POST', `/api/v1/device-groups/${group}/devices`, { body: { deviceIds: devices } });
  await owner('POST', `/api/v1/devices/${devices[0]}/credentials`);
  await owner('POST', `/api/v1/devices/${devices[0]}/onboard`, { body: { experimentIds: experiments } });
  for (const path of [
    `/macros/${macros[0]}/protocols`,
    `/protocols/${protocols[0]}/macros`,
    `/device-groups/${group}/devices`,
    `/devices/${devices[0]}/experiments`,
    `/experiments/${experiments[0]}/tables`,
  ])
    await expectPages(path);
});

test('the links of a list that is read whole lead to the rest of it', async () => {
  const owner = site.as(site.cast.owner);
  await site.db.run(
    sql(
      'test',
    )`insert into project_transfer_requests (id, user_id, user_email, source_platform, project_id_old, project_url_old, requested_at)
      select gen_random_uuid(), ${site.cast.owner.id}, 'owner@example.org', 'photosynq', n::text, 'https://example.org', now() - n * interval '1 second'
      from generate_series(1, 1001) n`,
  );
  const whole = await owner('GET', '/api/v1/transfer-requests');
  expect([whole.body.length, whole.headers.get('x-total-count')]).toEqual([1_000, '1001']);
  const follow = (rel: string) => owner('GET', RegExp(`<([^>]*)>; rel="${rel}"`).exec(whole.headers.get('link') ?? '')![1]!);
  expect((await follow('first')).body).toEqual(whole.body.slice(0, 100));
  for (const rel of ['next', 'last']) expect((await follow(rel)).body).toMatchObject([{ projectIdOld: '1001' }]);
});

test('a list of some megabytes comes whole, with its length, and what it holds is what was sent', async () => {
  const owner = site.as(site.cast.owner);
  const code = [0.1, 1e15, 'é'.repeat(700_000)];
  const search = 'as long as a season';
  const ids = [];
  for (const name of [`${search} 1`, `${search} 2`]) ids.push(await make('/protocols', { name, family: 'multispeq', code }));
  const call = { query: { search, pageSize: '100' } };
  const list = await owner('GET', '/api/v1/protocols', call);
  expect(list.status).toBe(200);
  expect(list.body.map((each: { id: string; code: unknown }) => [each.id, each.code])).toEqual(
    expect.arrayContaining(ids.map((id) => [id, code])),
  );
  expect(Number(list.headers.get('content-length'))).toBe(Buffer.byteLength(list.text));
  expect(list.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const head = await owner('HEAD', '/api/v1/protocols', call);
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', list.headers.get('content-length')]);
});
