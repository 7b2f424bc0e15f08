/** What people who come from other services send and expect. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { eventually } from '../support/crashes.ts';
import { signIn } from '../support/browser.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let id: string;
let path: string;
let tableId: string;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Été à Gand', organizationId: site.cast.leafLab } })).body.id;
  path = `/api/v1/experiments/${id}`;
  tableId = await uploadTable(owner, id, 'Feuilles_vertes', 'plot,spad\n1,41.5\n2,38\n');
});
afterAll(() => site.stop());

const by = (headers: Record<string, string>, to = path) => site.as(null)('GET', to, { headers });

describe('an API key', () => {
  test('is taken as a bearer token too', async () => {
    const key = site.cast.owner.apiKey;
    expect((await by({ 'x-api-key': key })).status).toBe(200);
    expect((await by({ authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await by({ authorization: `bearer ${key}`, 'x-api-key': key })).status).toBe(200);
    const differ = await by({ authorization: `Bearer ${key}`, 'x-api-key': site.cast.member.apiKey });
    expect([differ.status, differ.body.code]).toEqual([400, 'API_KEYS_DIFFER']);
    const wrong = await by({ authorization: 'Bearer flk_nonsense' });
    expect([wrong.status, wrong.body.code]).toEqual([403, 'API_KEY_MALFORMED']);
    const other = await by({ authorization: 'Bearer eyJhbGciOi' });
    expect([other.status, other.body.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test('opens no account route, and is passed over beside its owner\u2019s session', async () => {
    const route = '/api/v1/auth/list-sessions';
    const key = { 'x-api-key': site.cast.owner.apiKey };
    const [own, another] = [await signIn(site, 'owner@example.com'), await signIn(site, 'member@example.com')];
    expect((await own.call('GET', route)).status).toBe(200);
    expect((await own.call('GET', route, undefined, key)).status).toBe(200);
    expect((await another.call('GET', route)).status).toBe(200);
    for (const refused of [await by(key, route), await another.call('GET', route, undefined, key)])
      expect([refused.status, refused.body.code]).toEqual([401, 'API_KEY_NOT_ACCEPTED']);
  });
});

describe('a read', () => {
  const read = (query: Record<string, string | number>, accept?: string) =>
    owner('GET', `${path}/data`, { query: { tableName: tableId, ...query }, headers: accept === undefined ? {} : { accept } });

  test.each([
    ['csv', 'text/csv', 'csv'],
    ['ndjson', 'application/x-ndjson', 'ndjson'],
    ['arrow', 'application/vnd.apache.arrow.stream', 'arrow'],
    ['parquet', 'application/vnd.apache.parquet', 'parquet'],
  ])('has the format %s by a query, whatever Accept says, and a name for its file', async (format, type, extension) => {
    const answer = await read({ format }, 'application/json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain(type);
    expect(answer.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename=ete-a-gand_feuilles-vertes_\\d{8}_\\d{6}\\.${extension}$`),
    );
  });

  test('of JSON has no file, also when the query says JSON and Accept does not', async () => {
    const answer = await read({ format: 'json' }, 'text/csv');
    expect(answer.body[0].totalRows).toBe(2);
    expect(answer.headers.get('content-disposition')).toBeNull();
    const wrong = await read({ format: 'xml' });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(wrong.text).toContain('parquet');
  });

  test('of CSV begins with the mark of UTF-8 where it is asked for', async () => {
    const plain = await read({ format: 'csv', columns: 'plot,spad' });
    const marked = await read({ format: 'csv', columns: 'plot,spad', bom: 'true' });
    expect(plain.bytes.subarray(0, 4).toString()).toBe('plot');
    expect(marked.bytes.equals(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain.bytes]))).toBe(true);
  });

  test('by an empty aggregation is refused, and by one that is left out is plain', async () => {
    expect((await read({ aggregation: '' })).status).toBe(200);
    const refused = await read({ aggregation: '{}' });
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(refused.text).toContain('?aggregation');
  });

  test('of a version that never was is 404', async () => {
    expect((await read({ asOf: 1 })).status).toBe(200);
    const never = await read({ asOf: 2 });
    expect([never.status, never.body.code]).toEqual([404, 'TABLE_VERSION_UNKNOWN']);
  });

  test('takes ids in either case', async () => {
    const upper = await owner('GET', `/api/v1/experiments/${id.toUpperCase()}/data`, { query: { tableName: tableId.toUpperCase() } });
    expect([upper.status, upper.body[0]?.totalRows]).toEqual([200, 2]);
    const visible = await owner('GET', `/api/v1/experiments/${id.toUpperCase()}`);
    expect(visible.body.id).toBe(id);
  });
});

test('ids of upload tables and of locations are UUIDv7 as all others', async () => {
  const added = await owner('POST', `${path}/locations`, { body: { locations: [{ name: 'Field', latitude: 51, longitude: 3.7 }] } });
  expect([id, tableId, added.body[0].id].map((each: string) => each[14])).toEqual(['7', '7', '7']);
});

test('the list of tables says how many there are', async () => {
  const tables = await owner('GET', `${path}/tables`);
  expect(tables.headers.get('x-total-count')).toBe(String(tables.body.length));
});

test('a public experiment with an embargo is refused; each alone is made', async () => {
  const make = (body: object) =>
    owner('POST', '/api/v1/experiments', { body: { name: 'Open', organizationId: site.cast.leafLab, ...body } });
  const embargoUntil = new Date(Date.now() + 30 * 86_400_000).toISOString();
  expect((await make({ visibility: 'public' })).status).toBe(201);
  expect((await make({ embargoUntil })).status).toBe(201);
  const both = await make({ visibility: 'public', embargoUntil });
  expect([both.status, both.body.code]).toEqual([400, 'EMBARGO_OF_PUBLIC']);
});

test('an experiment with `include=data` has the first measurements, for whoever may read them', async () => {
  const experiment = (
    await owner('POST', '/api/v1/experiments', { body: { name: 'Measured', organizationId: site.cast.leafLab, visibility: 'public' } })
  ).body;
  const one = `/api/v1/experiments/${String(experiment.id)}`;
  expect((await owner('GET', one)).body).not.toHaveProperty('data');
  expect((await owner('GET', one, { query: { include: 'data' } })).body.data).toEqual({
    columns: expect.arrayContaining([{ name: 'timestamp', type_name: 'TIMESTAMP', type_text: 'TIMESTAMP' }]),
    rows: [],
    totalRows: 0,
    truncated: false,
  });
  const payload = (n: number) =>
    JSON.stringify({ timestamp: `2026-05-01T10:00:${String(n % 60).padStart(2, '0')}Z`, sample: { n }, device_id: 'd' });
  const messages = Array.from({ length: 120 }, (_, n) => ({
    experimentId: experiment.id,
    clientId: 'multispeq_1',
    body: Buffer.from(payload(n)),
  }));
  await storeMessages(site.db, messages);
  const shown = await eventually(
    async () => (await owner('GET', one, { query: { include: 'data' } })).body.data,
    (data) => data.truncated,
    15_000,
  );
  expect([shown.rows.length, shown.totalRows]).toEqual([100, 100]);
  // anyone reads what is public, but not its measurements
  const outsider = await site.as(site.cast.stranger)('GET', one, { query: { include: 'data' } });
  expect(outsider.status).toBe(200);
  expect(outsider.body).not.toHaveProperty('data');
  expect((await owner('GET', one, { query: { include: 'rows' } })).status).toBe(400);
});

test('an address with another scheme than http and https is refused, however it is written', async () => {
  const browser = await signIn(site, 'owner@example.com');
  let made = 0;
  const make = (fields: object) =>
    browser.call('POST', '/api/v1/auth/organization/create', { name: 'Addressed', slug: `addressed-${(made += 1)}`, ...fields });
  for (const field of ['website', 'logo']) {
    for (const address of ['https://example.org/a?b=c', 'http://example.org', 'example.org/about', ''])
      expect((await make({ [field]: address })).status, `${field} ${address}`).toBe(200);
    for (const address of [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'java\tscript:alert(1)',
      '\u0001javascript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'https://example.org/ javascript:x',
    ]) {
      const refused = await make({ [field]: address });
      expect([refused.status, refused.body.code, refused.body.errors?.[0]?.path], `${field} ${address}`).toEqual([
        400,
        'VALIDATION_ERROR',
        `/${field}`,
      ]);
    }
  }
});

test('who made a chart, a dashboard or a table of metadata of an anonymised experiment has a pseudonym, but for its managers', async () => {
  const experiment = await owner('POST', '/api/v1/experiments', {
    body: { name: 'Hidden makers', organizationId: site.cast.leafLab, anonymizeContributors: true },
  });
  const at = `/api/v1/experiments/${String(experiment.body.id)}`;
  await grant(site.db, { id: experiment.body.id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
  const made = {
    dashboards: { name: 'Overview' },
    visualizations: {
      name: 'Chart',
      chartFamily: 'basic',
      chartType: 'line',
      config: {},
      dataConfig: { tableName: 'raw_data', dataSources: [{ tableName: '', columnName: '', role: 'x' }] },
    },
    metadata: {
      metadata: {
        name: 'Plots',
        columns: [{ id: 'plot', name: 'plot', type: 'string' }],
        rows: [{ _id: '1', plot: '1' }],
        identifierColumnId: 'plot',
        experimentQuestionId: 'plot',
      },
    },
  };
  const pseudonyms = new Set<string>();
  for (const [kind, body] of Object.entries(made)) {
    const created = await owner('POST', `${at}/${kind}`, { body });
    expect(created.status, created.text).toBe(201);
    expect(created.body.createdBy).toBe(site.cast.owner.id);
    const listed = await site.as(site.cast.viewer)('GET', `${at}/${kind}`);
    expect(listed.status, listed.text).toBe(200);
    expect(listed.text).not.toContain(site.cast.owner.id);
    expect(listed.text).not.toContain('Owner');
    expect(listed.body[0].createdBy).toMatch(/^Contributor-[0-9A-F]{16}$/);
    pseudonyms.add(listed.body[0].createdBy);
    const id = String(created.body.id);
    if (kind !== 'metadata') {
      const one = await site.as(site.cast.viewer)('GET', `${at}/${kind}/${id}`);
      expect(one.body).toMatchObject({ createdBy: listed.body[0].createdBy, createdByName: listed.body[0].createdBy });
    }
    expect((await site.as(site.cast.admin)('GET', `${at}/${kind}`)).body[0].createdBy).toBe(site.cast.owner.id);
  }
  expect(pseudonyms.size).toBe(1);
});
