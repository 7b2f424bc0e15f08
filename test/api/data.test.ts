import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import { ParquetReader } from 'parquetjs-lite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wakeErasuresJob } from '../../src/api/erasure/erasure.job.ts';
import { sql } from '../../src/database/sql.ts';
import { noteValues } from '../../src/lakehouse/tables/value-notes.ts';
import { grant } from '../support/cast.ts';
import { detailsOf } from '../support/operators.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

/** Lists the folders within those of a store that hold nothing. */
async function listEmptyFolders(store: string): Promise<string[]> {
  const entries = await readdir(store, { recursive: true, withFileTypes: true });
  const used = new Set(entries.map(({ parentPath }) => parentPath));
  return entries.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isDirectory() && entry.parentPath !== store && !used.has(path) ? path : [];
  });
}

let site: TestServer;
let experimentId: string;
let tableId: string;

export const CSV = `plot,treatment,measured_at,spad,note
1,control,2026-06-01T08:00:00Z,41.5,ok
1,drought,2026-06-01T09:30:00Z,38.25,
2,control,2026-06-02T08:00:00Z,,"a ""quoted"", note"
2,drought,2026-06-02T10:15:00Z,35,=1+1
3,control,2026-06-03T23:59:59.123456Z,44.125,""
`;

const form = (fields: Record<string, string>, files: Record<string, string>) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  for (const [name, text] of Object.entries(files)) body.append('files', new Blob([text]), name);
  return body;
};

async function finished(call: Call, path: string) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { body } = await call('GET', path);
    if (!['pending', 'running'].includes(body.status)) return body;
    await sleep(50);
  }
  throw new Error('the upload did not finish');
}

beforeAll(async () => {
  site = await startTestServer();
  const call = site.as(site.cast.owner);
  experimentId = (await call('POST', '/api/v1/experiments', { body: { name: 'Drought', organizationId: site.cast.leafLab } })).body.id;
  await grant(site.db, { id: experimentId, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
});
afterAll(() => site.stop());

describe('uploads', () => {
  test('POST /api/v1/experiments/{id}/data/uploads makes a table, and GET follows it to the end', async () => {
    const call = site.as(site.cast.owner);
    const made = await call('POST', `/api/v1/experiments/${experimentId}/data/uploads`, {
      body: form({ sourceKind: 'csv', targetKind: 'new', targetName: 'spad' }, { 'spad.csv': CSV }),
    });
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'pending', uploadTableName: 'spad', sourceKind: 'csv', fileCount: 1, files: [{ path: 'spad.csv' }] },
    });
    tableId = made.body.uploadTableId;
    const done = await finished(call, `/api/v1/experiments/${experimentId}/data/uploads/${made.body.uploadId}`);
    expect(done).toMatchObject({
      status: 'completed',
      rowsIn: 5,
      rowCount: 5,
      quarantined: 0,
      alreadyThere: 0,
      errorMessage: null,
      files: [{ status: 'completed', stored: 5 }],
    });
    const list = await call('GET', `/api/v1/experiments/${experimentId}/data/uploads`, { query: { uploadTableName: 'SPAD' } });
    expect(list.body.uploads).toMatchObject([{ uploadId: made.body.uploadId, status: 'completed' }]);
  });

  test('the same file again is already there', async () => {
    const call = site.as(site.cast.viewer);
    const again = await call('POST', `/api/v1/experiments/${experimentId}/data/uploads`, {
      body: form({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId }, { 'spad.csv': CSV }),
    });
    expect(again.status).toBe(201);
    const done = await finished(call, `/api/v1/experiments/${experimentId}/data/uploads/${again.body.uploadId}`);
    expect(done).toMatchObject({ status: 'completed', rowCount: 0, alreadyThere: 5 });
  });

  test('refusals name what is wrong and leave no bytes', async () => {
    const path = `/api/v1/experiments/${experimentId}/data/uploads`;
    const call = site.as(site.cast.owner);
    const fields = { sourceKind: 'csv', targetKind: 'new', targetName: 'other' };
    expect(await call('POST', path, { body: form({ ...fields, targetName: 'Spad' }, { 'a.csv': CSV }) })).toMatchObject({
      status: 409,
      body: { code: 'TABLE_NAME_TAKEN', uploadTableId: tableId },
    });
    expect((await call('POST', path, { body: form({ ...fields, targetName: 'raw_data' }, { 'a.csv': CSV }) })).status).toBe(400);
    expect((await call('POST', path, { body: form({ ...fields, sourceKind: 'xlsx' }, { 'a.csv': CSV }) })).status).toBe(400);
    expect((await call('POST', path, { body: form(fields, {}) })).status).toBe(400);
    expect((await call('POST', path, { body: form({ ...fields, targetName: 'odd' }, { 'a.exe': CSV }) })).status).toBe(400);
    expect((await call('POST', path, { body: { sourceKind: 'csv' } })).status).toBe(415);
    expect(
      (await site.as(site.cast.viewer)('POST', path, { body: form({ ...fields, targetName: 'mine' }, { 'a.csv': CSV }) })).status,
    ).toBe(403);
    expect((await site.as(site.cast.stranger)('POST', path, { body: form(fields, { 'a.csv': CSV }) })).status).toBe(403);
    const uploads = (await call('GET', path)).body.uploads as { status: string; errorMessage: string }[];
    expect(uploads.filter(({ status }) => status === 'failed').every(({ errorMessage }) => errorMessage.length > 0)).toBe(true);
  });

  test('an Idempotency-Key replays an upload of the same files', async () => {
    const call = site.as(site.cast.owner);
    const send = () =>
      call('POST', `/api/v1/experiments/${experimentId}/data/uploads`, {
        body: form({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId }, { 'more.csv': 'plot,spad\n9,1.5\n' }),
        headers: { 'idempotency-key': 'upload-once' },
      });
    const first = await send();
    const second = await send();
    expect(second).toMatchObject({ status: 201, body: { uploadId: first.body.uploadId } });
    await finished(call, `/api/v1/experiments/${experimentId}/data/uploads/${first.body.uploadId}`);
  });

  test('an Idempotency-Key replays an upload that made its table, and the name is taken for every other', async () => {
    const call = site.as(site.cast.owner);
    const { id } = (await call('POST', '/api/v1/experiments', { body: { name: 'Answers that were lost' } })).body;
    const path = `/api/v1/experiments/${id}/data/uploads`;
    const send = (text: string, key?: string) =>
      call('POST', path, {
        body: form({ sourceKind: 'csv', targetKind: 'new', targetName: 'lost' }, { 'a.csv': text }),
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      });
    const first = await send('n\n1\n', 'answer-lost');
    expect(first.status).toBe(201);
    await finished(call, `${path}/${first.body.uploadId}`);
    const again = await send('n\n1\n', 'answer-lost');
    expect(again).toMatchObject({ status: 201, body: { uploadId: first.body.uploadId } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await send('n\n2\n', 'answer-lost')).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    expect(await send('n\n1\n', 'another')).toMatchObject({ status: 409, body: { code: 'TABLE_NAME_TAKEN' } });
    expect(await send('n\n1\n')).toMatchObject({ status: 409, body: { code: 'TABLE_NAME_TAKEN' } });
    expect((await call('GET', path)).body.uploads).toHaveLength(1);
  });
});

describe('reads', () => {
  const read = (
    query: Record<string, string | number>,
    person: 'owner' | 'viewer' | 'stranger' = 'viewer',
    headers: Record<string, string> = {},
  ) => site.as(site.cast[person])('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: 'spad', ...query }, headers });

  test('GET /api/v1/experiments/{id}/tables lists tables with their columns', async () => {
    const { body } = await site.as(site.cast.viewer)('GET', `/api/v1/experiments/${experimentId}/tables`);
    expect(body.map(({ identifier }: { identifier: string }) => identifier)).toEqual(['raw_data', 'device', tableId]);
    expect(body[2]).toMatchObject({
      tableType: 'upload',
      displayName: 'spad',
      totalRows: 6,
      defaultSortColumn: 'uploaded_at',
      canRead: true,
    });
    expect(body[2]).not.toHaveProperty('errorColumn');
    const types = Object.fromEntries(body[2].columns.map(({ name, type }: { name: string; type: string }) => [name, type]));
    expect(types).toMatchObject({ id: 'STRING', plot: expect.any(String), treatment: 'STRING', measured_at: 'TIMESTAMP', note: 'STRING' });
  });

  test('GET /api/v1/experiments/{id}/data gives typed rows in the order of the file', async () => {
    const { body, headers } = await read({});
    expect(headers.get('x-table-version')).toBe('2');
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      name: 'spad',
      catalog_name: 'Drought',
      schema_name: 'fieldlake',
      page: 1,
      pageSize: 100,
      totalPages: 1,
      totalRows: 6,
    });
    expect(body[0].data).toMatchObject({ totalRows: 6, truncated: false });
    const rows = body[0].data.rows;
    expect(rows.map(({ plot }: { plot: number }) => plot)).toEqual([1, 1, 2, 2, 3, 9]);
    expect(rows[0]).toMatchObject({
      treatment: 'control',
      spad: expect.anything(),
      measured_at: '2026-06-01T08:00:00.000Z',
      note: 'ok',
      contributor: { id: site.cast.owner.id, name: 'Owner Tester' },
    });
    expect(rows[1].note).toBe(null);
    expect(rows[4]).toMatchObject({ note: '', measured_at: '2026-06-03T23:59:59.123456Z' });
    expect(rows[2].spad).toBe(null);
  });

  test('filters, projects, orders and pages', async () => {
    const filters = JSON.stringify([{ column: 'treatment', operator: 'not_equals', value: 'drought' }]);
    const { body } = await read({
      filters,
      columns: 'plot,contributor.name',
      orderBy: 'plot',
      orderDirection: 'DESC',
      page: 1,
      pageSize: 2,
    });
    expect(body[0]).toMatchObject({ totalRows: 4, totalPages: 2, pageSize: 2 });
    expect(body[0].data.rows).toEqual(
      [
        { plot: 9, 'contributor.name': 'Owner Tester' },
        { plot: 3, 'contributor.name': 'Owner Tester' },
      ].map((row) => expect.objectContaining({ plot: row.plot })),
    );
  });

  test('what a filter keeps is the same once the values of files are noted, and counted from the notes', async () => {
    const asked = (pageSize: number, [column, operator, value]: readonly (string | undefined)[]) =>
      read({ filters: JSON.stringify([{ column, operator, value }]), orderDirection: 'DESC', pageSize });
    const questions = [
      ['treatment', 'equals', 'drought'],
      ['treatment', 'not_equals', 'drought'],
      ['treatment', 'equals', 'never'],
      ['note', 'is_null'],
    ] as const;
    const before = await Promise.all(questions.map((question) => asked(50, question)));
    expect(await noteValues(await site.context(), tableId)).toBeGreaterThan(0);
    // a page of another size, since kept answers are of a version
    for (const [index, question] of questions.entries()) {
      const { status, body } = await asked(51, question);
      expect(status).toBe(200);
      expect(body[0]).toEqual({ ...before[index]?.body[0], pageSize: 51 });
    }
    expect(before.map(({ body }) => body[0].totalRows)).toEqual([2, 4, 0, expect.any(Number)]);
    const { body } = await site.as(site.cast.viewer)('GET', `/api/v1/experiments/${experimentId}/data/distinct`, {
      query: { tableName: tableId, column: 'plot', limit: 4 },
    });
    expect(body).toEqual({ values: ['1', '2', '3', '9'], truncated: false });
  });

  test('pages by cursor: the Link header leads on and back, over the version that was first read', async () => {
    const linkOf = (answer: { headers: Headers }, rel: string) =>
      new RegExp(`<([^>]+)>; rel="${rel}"`).exec(answer.headers.get('link') ?? '')?.[1] ?? null;
    const follow = (path: string | null) => site.as(site.cast.viewer)('GET', path ?? '');
    const plots = ({ body }: { body: { data: { rows: { plot: number }[] } }[] }) => body[0]!.data.rows.map(({ plot }) => plot);
    const first = await read({ columns: 'plot', orderBy: 'plot', orderDirection: 'DESC', pageSize: 2, asOf: 1 });
    expect([plots(first), first.body[0].totalPages, linkOf(first, 'prev')]).toEqual([[3, 2], 3, null]);
    const second = await follow(linkOf(first, 'next'));
    expect([plots(second), second.body[0].page, second.body[0].totalRows]).toEqual([[2, 1], 2, 5]);
    const third = await follow(linkOf(second, 'next'));
    expect([plots(third), third.body[0].page, linkOf(third, 'next')]).toEqual([[1], 3, null]);
    expect(plots(await follow(linkOf(third, 'prev')))).toEqual([2, 1]);
    expect(third.headers.get('x-table-version')).toBe('1');
    expect(linkOf(await read({ columns: 'plot', pageSize: 100 }), 'next')).toBeNull();

    const next = new URLSearchParams(linkOf(first, 'next')?.split('?')[1]);
    const cursor = next.get('cursor') ?? '';
    const good = { columns: 'plot', orderBy: 'plot', orderDirection: 'DESC', pageSize: 2, asOf: 1, cursor };
    expect((await read(good)).status).toBe(200);
    expect((await read({ ...good, columns: 'spad', pageSize: 1 })).body[0].data.rows).toEqual([{ spad: expect.anything() }]);
    const aggregation = JSON.stringify({ groupBy: [{ column: 'plot' }], functions: [{ column: '*', function: 'count' }] });
    const flipped = Buffer.from(cursor, 'base64url');
    flipped[20]! ^= 1;
    for (const [change, said] of [
      [{ cursor: 'nonsense' }, 'not a cursor'],
      [{ cursor: `${cursor}AA` }, 'not a cursor'],
      [{ cursor: flipped.toString('base64url') }, 'not a cursor'],
      [{ orderDirection: 'ASC' }, 'another read'],
      [{ filters: JSON.stringify([{ column: 'plot', operator: 'equals', value: 1 }]) }, 'another read'],
      [{ tableName: 'device' }, 'another read'],
      [{ page: 2 }, 'beside a page'],
      [{ aggregation }, 'paged by number'],
    ] as const) {
      const refused = await read({ ...good, ...change });
      expect([refused.status, refused.body.errors?.[0]?.message], JSON.stringify(change)).toEqual([400, expect.stringContaining(said)]);
      expect(refused.body.errors[0].path).toBe('?cursor');
    }
    expect((await read(good, 'viewer', { accept: 'text/csv' })).body.errors[0].message).toContain('stream');
  });

  test('empty text is found by equals, and is not what has no value', async () => {
    const notes = async (operator: string, value?: unknown) => {
      const { body } = await read({ columns: 'note', filters: JSON.stringify([{ column: 'note', operator, value }]) });
      return body[0].data.rows.map(({ note }: { note: string | null }) => note);
    };
    expect(await notes('equals', '')).toEqual(['']);
    expect(await notes('in', ['', 'ok'])).toEqual(['ok', '']);
    expect(new Set(await notes('is_null'))).toEqual(new Set([null]));
    expect(await notes('not_equals', '')).toContain(null);
    expect(await notes('not_equals', '')).not.toContain('');
    const refused = await read({ filters: JSON.stringify([{ column: 'plot', operator: 'equals', value: '' }]) });
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      "Filter 'equals' on column 'plot': the value is empty; is_null finds missing values.",
    ]);
  });

  test('groups by day with sum, avg, count, min, max and std', async () => {
    const aggregation = JSON.stringify({
      groupBy: [{ column: 'measured_at', timeBucket: 'day' }],
      functions: ['sum', 'avg', 'count', 'min', 'max', 'std'].map((name) => ({ column: 'spad', function: name })),
    });
    const filters = JSON.stringify([{ column: 'measured_at', operator: 'is_not_null' }]);
    const { body, status } = await read({ aggregation, filters });
    expect(status).toBe(200);
    expect(
      body[0].data.rows.map((row: Record<string, unknown>) => [row['measured_at_day'], row['spad_count'], Number(row['spad_sum'])]),
    ).toEqual([
      ['2026-06-01T00:00:00.000Z', 2, 79.75],
      ['2026-06-02T00:00:00.000Z', 1, 35],
      ['2026-06-03T00:00:00.000Z', 1, 44.125],
    ]);
    expect(Number(body[0].data.rows[0]['spad_std'])).toBeCloseTo(2.298097, 5);
  });

  test('gives the standard error and the confidence interval of a mean, and null for a single value', async () => {
    const functions = ['sem', 'ci95'].map((name) => ({ column: 'spad', function: name }));
    const aggregation = JSON.stringify({ groupBy: [{ column: 'measured_at', timeBucket: 'day' }], functions });
    const filters = JSON.stringify([{ column: 'measured_at', operator: 'is_not_null' }]);
    const { body, status } = await read({ aggregation, filters });
    expect(status).toBe(200);
    const [pair, single] = body[0].data.rows;
    expect(Number(pair['spad_sem'])).toBeCloseTo(1.625, 9);
    expect(Number(pair['spad_ci95'])).toBeCloseTo(1.625 * 12.706204736174694, 8);
    expect(single).toMatchObject({ spad_sem: null, spad_ci95: null });
    const asked = (column: string) => JSON.stringify({ functions: [{ column, function: 'ci95' }] });
    for (const [column, words] of [
      ['treatment', 'a numeric column is needed'],
      ['*', 'can only be counted'],
    ] as const) {
      const refused = await read({ aggregation: asked(column) });
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body)).toContain(words);
    }
  });

  test('GET /api/v1/experiments/{id}/data/distinct', async () => {
    const { body } = await site.as(site.cast.viewer)('GET', `/api/v1/experiments/${experimentId}/data/distinct`, {
      query: { tableName: tableId, column: 'treatment' },
    });
    expect(body).toEqual({ values: ['control', 'drought'], truncated: false });
    const cut = await site.as(site.cast.viewer)('GET', `/api/v1/experiments/${experimentId}/data/distinct`, {
      query: { tableName: tableId, column: 'plot', limit: 3 },
    });
    expect(cut.body).toEqual({ values: ['1', '2', '3'], truncated: true });
  });

  test('text/csv streams every row, guards formulas, and tells null from empty text', async () => {
    const answer = await read({ columns: 'plot,note' }, 'viewer', { accept: 'text/csv' });
    expect(answer.headers.get('content-type')).toContain('text/csv');
    expect(answer.text).toBe(
      `plot,note\r\n1,ok\r\n1,\r\n2,"a ""quoted"", note"\r\n2,'=1+1\r\n3,""\r\n9,\r\n`.replaceAll(
        '\r\n',
        answer.text.includes('\r\n') ? '\r\n' : '\n',
      ),
    );
    expect((await read({ columns: 'plot,note', raw: 'true' }, 'viewer', { accept: 'text/csv' })).text).toContain('\n2,=1+1');
    const lines = (await read({ columns: 'plot' }, 'viewer', { accept: 'application/x-ndjson' })).text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toHaveLength(6);
  });

  test('Arrow and Parquet stream every row with its types', async () => {
    const columns = 'plot,treatment,measured_at,spad,contributor';
    const types = ['application/vnd.apache.arrow.stream', 'application/vnd.apache.parquet'];
    const [arrow, parquet] = await Promise.all(types.map((accept) => read({ columns }, 'viewer', { accept })));
    expect([arrow!.headers.get('content-type'), parquet!.headers.get('content-type')]).toEqual(types);
    const table = tableFromIPC(arrow!.bytes);
    expect(table.schema.fields.map(({ name, metadata }) => [name, metadata.get('type_text')])).toEqual([
      ['plot', 'INT'],
      ['treatment', 'STRING'],
      ['measured_at', 'TIMESTAMP'],
      ['spad', 'DOUBLE'],
      ['contributor', 'STRUCT<id: STRING, name: STRING, avatar: STRING>'],
    ]);
    expect(table.numRows).toBe(6);
    expect(table.get(1)?.toJSON()).toMatchObject({ plot: 1, treatment: 'drought', spad: 38.25 });
    const micros = table.getChild('measured_at')?.data[0]?.values as BigInt64Array;
    expect(micros[4]).toBe(BigInt(Date.parse('2026-06-03T23:59:59Z')) * 1000n + 123456n);
    expect(table.getChild('contributor')?.get(0)?.toJSON()).toMatchObject({ id: site.cast.owner.id, name: 'Owner Tester' });
    const reader = await ParquetReader.openBuffer(parquet!.bytes);
    expect([Number(reader.getRowCount()), await reader.getCursor().next()]).toEqual([
      6,
      expect.objectContaining({ plot: 1, treatment: 'control', spad: 41.5 }),
    ]);
    const filters = JSON.stringify([{ column: 'plot', operator: 'equals', value: 999 }]);
    const empty = await read({ columns, filters }, 'viewer', { accept: types[0]! });
    expect([empty.status, tableFromIPC(empty.bytes).numRows]).toEqual([200, 0]);
  });

  test('an entity tag gives 304 until rows are added, and asOf reads what was', async () => {
    const first = await read({});
    const etag = first.headers.get('etag') ?? '';
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
      expect((await read({}, 'viewer', { 'if-none-match': known, 'cache-control': 'no-cache' })).status, known).toBe(304);
    expect((await read({}, 'viewer', { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await read({ asOf: 1 })).body[0].totalRows).toBe(5);
    expect((await read({ asOf: 99 })).body.code).toBe('TABLE_VERSION_UNKNOWN');
    const { paths } = JSON.parse((await site.as(null)('GET', '/openapi.json')).text) as {
      paths: Record<string, { get: { parameters: { name: string; schema: { maximum: number } }[] } }>;
    };
    const published = paths['/api/v1/experiments/{id}/data']?.get.parameters.find(({ name }) => name === 'asOf')?.schema.maximum ?? 0;
    expect((await read({ asOf: published })).body.code).toBe('TABLE_VERSION_UNKNOWN');
    for (const asOf of [String(published + 1), '9007199254740992', '9223372036854775808', '1e300', '0x1', '-1', 'NaN', '1.5', 'one', ''])
      expect([asOf, (await read({ asOf })).status]).toEqual([asOf, 400]);
  });

  test('caches are told what an answer depends on: its form, and the page that asks', async () => {
    const { baseUrl: origin } = site.server;
    const query = { tableName: tableId, pageSize: 1 };
    const { headers } = await site.as(site.cast.owner)('GET', `/api/v1/experiments/${experimentId}/data`, { query, headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('vary')?.split(', ').sort()).toEqual(['Accept', 'Origin']);
  });

  test('a read that was answered before costs no engine, until something that it shows has changed', async () => {
    const usage = async () => (await detailsOf(site)).warehouse.answers;
    const asked = { columns: 'plot,contributor,annotations', orderBy: 'plot', pageSize: 3 };
    const first = await read(asked);
    const { hits } = await usage();
    const second = await read(asked, 'owner');
    expect([second.text, second.headers.get('link'), second.headers.get('etag')]).toEqual([
      first.text,
      first.headers.get('link'),
      first.headers.get('etag'),
    ]);
    expect((await usage()).hits - hits).toBe(1);
    // whoever may not read does not reach it
    expect((await read(asked, 'stranger')).status).toBe(403);
    expect((await usage()).hits - hits).toBe(1);

    const call = site.as(site.cast.owner);
    const { id } = (await read({ columns: 'id', orderBy: 'plot', pageSize: 1 })).body[0].data.rows[0];
    const annotation = { type: 'comment', content: { type: 'comment', text: 'seen' } };
    const made = await call('POST', `/api/v1/experiments/${experimentId}/data/annotations`, {
      body: { tableName: 'spad', rowId: id, annotation },
    });
    expect(made.status).toBe(201);
    const annotated = await read(asked);
    expect(annotated.body[0].data.rows[0].annotations).toMatchObject([{ content: { text: 'seen' } }]);
    await call('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: true } });
    expect((await read(asked)).text).not.toContain('Owner Tester');
    await call('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: false, name: 'Drought again' } });
    expect((await read(asked)).body[0].catalog_name).toBe('Drought again');
    await call('PATCH', `/api/v1/experiments/${experimentId}`, { body: { name: 'Drought' } });
    expect((await usage()).hits - hits).toBe(1);
  });

  test('distinct values that were answered before cost no engine', async () => {
    const usage = async () => (await detailsOf(site)).warehouse.answers;
    const distinct = (who: keyof typeof site.cast, query: Record<string, string>) =>
      site.as(site.cast[who])(
        'GET',
        `/api/v1/experiments/${experimentId}/data/distinct?${new URLSearchParams({ tableName: 'spad', ...query }).toString()}`,
      );
    const first = await distinct('viewer', { column: 'treatment' });
    const { hits } = await usage();
    expect(await distinct('owner', { column: 'treatment' })).toMatchObject({ status: 200, text: first.text });
    expect((await usage()).hits - hits).toBe(1);
    expect((await distinct('stranger', { column: 'treatment' })).status).toBe(403);
    expect((await distinct('viewer', { column: 'treatment', limit: '1' })).body).toMatchObject({ truncated: true });
    expect((await usage()).hits - hits).toBe(1);
  });

  test('Server-Timing says what rows, values and files waited for', async () => {
    const call = site.as(site.cast.owner);
    const stages = async (path: string, query: Record<string, string>) => {
      const { status, headers } = await call('GET', `/api/v1/experiments/${experimentId}/data${path}`, {
        query: { tableName: 'spad', ...query },
      });
      expect(status).toBe(200);
      return headers.get('server-timing')?.replaceAll(/;dur=[\d.]+/g, '');
    };
    const whole = 'auth, access, plan, wait, engine, total';
    // not asked elsewhere, or the answer would be one that is kept
    expect(await stages('', { columns: 'spad,note,plot' })).toBe(whole);
    expect(await stages('/distinct', { column: 'spad', limit: '7' })).toBe(whole);
    expect(await stages('', { format: 'csv' })).toBe(whole);
  });

  test('the plan of a read, without its values', async () => {
    const filters = JSON.stringify([{ column: 'treatment', operator: 'equals', value: 'canary-value' }]);
    const answer = await read({ filters }, 'viewer', { accept: 'application/vnd.fieldlake.plan+json' });
    expect(answer.body).toMatchObject({ statement: expect.any(String), parameters: expect.any(Array) });
    expect(answer.text).not.toContain('canary-value');
  });

  test('refusals: order, unknown tables, columns and parameters', async () => {
    expect((await site.as(null)('GET', `/api/v1/experiments/${experimentId}/data`)).status).toBe(401);
    expect((await read({}, 'stranger')).status).toBe(403);
    expect(await read({ tableName: 'nothing' })).toMatchObject({ status: 404, body: { code: 'TABLE_NOT_FOUND' } });
    expect(await read({ columns: 'tretment' })).toMatchObject({ status: 400, body: { detail: expect.stringContaining('treatment') } });
    expect((await read({ filter: '[]' })).body).toMatchObject({
      status: 400,
      errors: [{ path: '?filter', message: expect.stringContaining('filters') }],
    });
    expect((await read({ filters: '[{' })).status).toBe(400);
    expect((await read({ pageSize: 1000 })).status).toBe(400);
    expect(await read({}, 'viewer', { accept: 'image/png' })).toMatchObject({ status: 406, body: { code: 'NOT_ACCEPTABLE' } });
  });

  test('the public sees device rows of a public experiment, not its uploaded ones', async () => {
    const call = site.as(site.cast.owner);
    const id = (await call('POST', '/api/v1/experiments', { body: { name: 'Open', visibility: 'public' } })).body.id;
    const made = await call('POST', `/api/v1/experiments/${id}/data/uploads`, {
      body: form({ sourceKind: 'csv', targetKind: 'new', targetName: 'open_rows' }, { 'a.csv': CSV }),
    });
    await finished(call, `/api/v1/experiments/${id}/data/uploads/${made.body.uploadId}`);
    const stranger = site.as(site.cast.stranger);
    expect(await stranger('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'device' } })).toMatchObject({ status: 200 });
    expect(await stranger('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data' } })).toMatchObject({
      status: 403,
      body: { code: 'TABLE_DENIED' },
    });
    expect(await stranger('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'open_rows', nonsense: 1 } })).toMatchObject({
      status: 403,
      body: { code: 'TABLE_DENIED' },
    });
    const tables = (await stranger('GET', `/api/v1/experiments/${id}/tables`)).body;
    expect(tables.map(({ canRead }: { canRead: boolean }) => canRead)).toEqual([false, true, false]);
  });

  test('an anonymised experiment shows pseudonyms, also to its owner', async () => {
    const call = site.as(site.cast.owner);
    await call('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: true } });
    const { body, text } = await read({}, 'owner');
    expect(body[0].data.rows[0].contributor).toEqual({
      id: expect.stringMatching(/^Contributor-[0-9A-F]{16}$/),
      name: expect.stringMatching(/^Contributor-/),
      avatar: null,
    });
    expect(text).not.toContain('Owner Tester');
    await call('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: false } });
  });

  test('a deleted experiment is erased from every store, with a report', async () => {
    const call = site.as(site.cast.owner);
    const answer = await call('DELETE', `/api/v1/experiments/${experimentId}`);
    expect((await read({})).status).toBe(404);
    const erasureId = answer.headers.get('x-erasure-id') ?? '';
    let erasure: { status: string; report: Record<string, { rows: number; bytes: number }> } | undefined;
    for (let tries = 0; tries < 200 && erasure?.status !== 'completed'; tries += 1) {
      erasure = (await call('GET', `/api/v1/erasures/${erasureId}`)).body;
      await sleep(50);
    }
    expect(erasure).toMatchObject({ status: 'completed', report: { lake: { rows: 8 }, uploads: { rows: expect.any(Number) } } });
    expect(await listEmptyFolders(join(site.dataDir, 'objects'))).toEqual([]);
    expect(erasure!.report['answers']!.rows).toBeGreaterThan(0);
    expect(erasure!.report['lake']!.bytes).toBeGreaterThan(0);
    const foreign = await site.as(site.cast.stranger)('GET', `/api/v1/erasures/${erasureId}`);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'ERASURE_NOT_FOUND' } });
  });

  test('an erasure whose job has failed for good is taken up again', async () => {
    const id = randomUUID();
    await site.db.run(sql('test')`
      insert into erasures (id, experiment_id, requested_by, status) values (${id}, ${randomUUID()}, ${site.cast.owner.id}, 'running')`);
    const status = async () => (await site.as(site.cast.owner)('GET', `/api/v1/erasures/${id}`)).body.status as string;
    expect(await status()).toBe('running');
    await wakeErasuresJob(await site.context()).run({}, new AbortController().signal);
    await expect.poll(status).toBe('completed');
  });
});
