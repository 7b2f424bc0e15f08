import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFileName, makeSlug } from '../../src/storage/file-name.ts';
import { removeExport } from '../../src/api/exports/exports.service.ts';
import { expireExports } from '../../src/api/exports/writing.service.ts';
import type { Caller } from '../../src/auth/caller.ts';
import { sql } from '../../src/database/sql.ts';
import { readByteRange } from '../../src/http/answers/ranges.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Answer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

type Name = 'owner' | 'viewer' | 'member' | 'stranger';
const CSV = 'plot,treatment,note\n1,control,=1+1\n2,drought,"two\nlines"\n3,control,ok\n4,drought,\n';
let site: TestServer;
let experimentId: string;
let tableId: string;
let base: string;

const call = (name: Name, method: string, path: string, options: Parameters<ReturnType<TestServer['as']>>[2] = {}): Promise<Answer> =>
  site.as(site.cast[name])(method, `${base}/exports${path}`, options);
const start = async (body: object, name: Name = 'viewer'): Promise<string> => {
  const made = await call(name, 'POST', '', { body: { tableName: tableId, format: 'csv', ...body } });
  expect(made.status, made.text).toBe(201);
  return made.body.exportId as string;
};
async function finished(exportId: string, name: Name = 'viewer') {
  for (let tries = 0; tries < 300; tries += 1) {
    const { body } = await call(name, 'GET', `/${exportId}/status`);
    if (!['queued', 'running'].includes(body.status)) return body;
    await sleep(50);
  }
  throw new Error('the export did not end');
}
const written = async (body: object, name: Name = 'viewer'): Promise<Answer> => {
  const exportId = await start(body, name);
  expect(await finished(exportId, name)).toMatchObject({ status: 'completed' });
  return call(name, 'GET', `/${exportId}`);
};
const set = (query: ReturnType<ReturnType<typeof sql>>) => site.db.run(query);

/** Keeps this person's exports from being begun until the returned function is called. */
async function hold(name: Name): Promise<() => Promise<unknown>> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let holding: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (holding = resolve));
  const done = site.db.transaction(async (tx) => {
    await tx.run(sql('test')`select pg_advisory_xact_lock(hashtextextended('exports ' || ${site.cast[name].id}::text, 0))`);
    holding();
    await released;
  });
  await held;
  return () => {
    release();
    return done;
  };
}

beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Dürre & Trockenheit', organizationId: site.cast.leafLab } }))
    .body.id;
  base = `/api/v1/experiments/${experimentId}/data`;
  await grant(site.db, { id: experimentId, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
  tableId = await uploadTable(owner, experimentId, 'leaf_Spad', CSV);
});
afterAll(() => site.stop());

describe('exports', () => {
  test('POST /api/v1/experiments/{id}/data/exports starts one, GET …/status follows it', async () => {
    const made = await call('viewer', 'POST', '', { body: { tableName: 'LEAF_spad', format: 'csv', columns: ['plot', 'note'] } });
    expect(made).toMatchObject({ status: 201, body: { status: 'queued', exportId: expect.any(String) } });
    const { exportId } = made.body;
    const done = await finished(exportId);
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(done).toEqual({
      exportId,
      experimentId,
      tableName: 'LEAF_spad',
      format: 'csv',
      status: 'completed',
      filePath: `${base}/exports/${exportId}`,
      rowCount: 4,
      fileSize: expect.any(Number),
      createdBy: site.cast.viewer.id,
      createdAt: date,
      completedAt: date,
      progress: { percent: 100, rows: 4, bytes: done.fileSize, totalRows: 4 },
      errorMessage: null,
      anonymizeContributors: false,
      tableVersion: 1,
      expiresAt: date,
    });
    expect(Date.parse(done.expiresAt) - Date.parse(done.completedAt)).toBe(30 * 86_400_000);
    const list = await call('member', 'GET', '', { query: { tableName: 'leaf_spad' } });
    const { progress: _p, errorMessage: _e, anonymizeContributors: _a, tableVersion: _t, expiresAt: _x, ...listed } = done;
    expect(list.body).toEqual({ exports: [listed] });
    expect(list.headers.get('x-total-count')).toBe('1');
  });

  test('GET /api/v1/experiments/{id}/data/exports/{exportId} is the file: named, tagged, in ranges', async () => {
    const exportId = await start({ columns: 'plot,note', orderBy: 'plot', orderDirection: 'DESC' });
    const { completedAt } = await finished(exportId);
    const get = (headers: Record<string, string> = {}, method = 'GET') => call('viewer', method, `/${exportId}`, { headers });
    const whole = await get();
    const text = `plot,note\n4,\n3,ok\n2,"two\nlines"\n1,'=1+1\n`;
    expect(whole.status).toBe(200);
    expect(whole.text).toBe(text);
    const stamp = String(completedAt).slice(0, 16).replace(/[-:]/g, '').replace('T', '_');
    expect(whole.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="durre-trockenheit_leaf-spad_${stamp}\\d\\d\\.csv"$`),
    );
    expect(whole.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
    const etag = whole.headers.get('etag') ?? '';
    expect(etag).toBe(`"${createHash('sha256').update(text).digest('hex')}"`);
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    const part = await get({ range: 'bytes=5-8' });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, text.slice(5, 9), `bytes 5-8/${text.length}`]);
    expect((await get({ range: 'bytes=-6' })).text).toBe(text.slice(-6));
    expect((await get({ range: 'bytes=4-', 'if-range': '"another"' })).status).toBe(200);
    expect((await get({ range: 'bytes=4-', 'if-range': etag })).status).toBe(206);
    const beyond = await get({ range: 'bytes=1000-' });
    expect([beyond.status, beyond.body.code, beyond.headers.get('content-range')]).toEqual([
      416,
      'RANGE_NOT_SATISFIABLE',
      `bytes */${text.length}`,
    ]);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, String(text.length), '']);
  });

  test('every format holds what a read of the same query gives', async () => {
    const query = {
      columns: 'plot,note,contributor.name',
      filters: [{ column: 'treatment', operator: 'equals', value: 'drought' }],
      orderBy: 'plot',
    };
    const page = await site.as(site.cast.viewer)('GET', base, {
      query: { tableName: tableId, ...query, filters: JSON.stringify(query.filters) },
    });
    const rows = page.body[0].data.rows as object[];
    expect(rows).toHaveLength(2);
    expect(JSON.parse((await written({ ...query, format: 'json' })).text)).toEqual(rows);
    const lines = (await written({ ...query, format: 'ndjson' })).text;
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(rows);
    expect((await written({ ...query, format: 'csv', raw: true, filters: undefined })).text).toContain(',=1+1,');
    const parquet = await written({ ...query, format: 'parquet' });
    expect(parquet.text.slice(0, 4)).toBe('PAR1');
    expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const arrow = await written({ ...query, format: 'arrow' });
    expect(arrow.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
    expect(arrow.headers.get('content-disposition')).toContain('.arrow"');
    expect(
      tableFromIPC(arrow.bytes)
        .toArray()
        .map((row: { toJSON(): object }) => row.toJSON()),
    ).toEqual(rows);
    const aggregation = { groupBy: [{ column: 'treatment' }], functions: [{ column: '*', function: 'count' }] };
    expect(JSON.parse((await written({ format: 'json', aggregation })).text)).toEqual([
      { treatment: 'control', count_count: 2 },
      { treatment: 'drought', count_count: 2 },
    ]);
    expect((await written({ columns: ['plot'], limit: 2 })).text).toBe('plot\n1\n2\n');
  });

  test('an empty table is a valid empty file; the public may export what it may read', async () => {
    const owner = site.as(site.cast.owner);
    const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: '!!!', visibility: 'public' } })).body;
    const mine = base;
    base = `/api/v1/experiments/${String(id)}/data`;
    try {
      const columns = 'device_id,device_name';
      const csv = await written({ tableName: 'device', columns }, 'stranger');
      expect(csv.text).toBe('device_id,device_name\n');
      expect(csv.headers.get('content-disposition')).toContain(`filename="${String(id)}_device_`);
      expect((await written({ tableName: 'device', columns, format: 'json' }, 'stranger')).text).toBe('[]\n');
      expect((await written({ tableName: 'device', columns, format: 'ndjson' }, 'stranger')).text).toBe('');
      expect((await written({ tableName: 'device', columns, format: 'parquet' }, 'stranger')).text.slice(0, 4)).toBe('PAR1');
      const denied = await call('stranger', 'POST', '', { body: { tableName: 'raw_data', format: 'nonsense' } });
      expect(denied).toMatchObject({ status: 403, body: { code: 'TABLE_DENIED' } });
      expect((await call('stranger', 'GET', '', { query: { tableName: 'raw_data', nonsense: 1 } })).body.code).toBe('TABLE_DENIED');
    } finally {
      base = mine;
    }
  });

  test('a workbook that went out comes in again, with the same values', async () => {
    const csv = 'n,x,day,at,text\n1,0.5,2026-05-01,2026-05-01T12:00:00.5,007\n2,-1e-300,1999-12-31,2026-05-01T23:59:59,=1+1\n3,,,,\n';
    const sent = await uploadTable(site.as(site.cast.owner), experimentId, 'sent', csv);
    const columns = ['n', 'x', 'day', 'at', 'text'];
    const { bytes } = await written({ tableName: sent, format: 'xlsx', columns });
    const back = await uploadTable(site.as(site.cast.owner), experimentId, 'back', Uint8Array.from(bytes), 'xlsx');
    const rowsOf = async (tableName: string) =>
      (
        await site.as(site.cast.owner)('GET', `/api/v1/experiments/${experimentId}/data`, {
          query: { tableName, columns: columns.join(','), orderBy: 'n' },
        })
      ).body[0].data.rows as object[];
    expect(await rowsOf(back)).toEqual(await rowsOf(sent));
  });

  test('a whole number that JSON rounds is not taken for its neighbour; as text it is exact', async () => {
    const counted = await uploadTable(site.as(site.cast.owner), experimentId, 'counted', 'n,big\n1,9007199254740992\n2,9007199254740993\n');
    const of = (value: unknown, column = 'big') => ({ tableName: counted, filters: [{ column, operator: 'equals', value }] });
    expect((await written(of('9007199254740993'))).text).toContain('9007199254740993');
    expect((await written(of(9007199254740993, 'n'))).text.split('\n')).toHaveLength(2);
    const refused = await call('viewer', 'POST', '', { body: { format: 'csv', ...of(9007199254740993) } });
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.errors).toEqual([
      { path: '/filters/0/value', message: expect.stringContaining('as text where it is beyond 2^53') as string },
    ]);
    const long = await call('viewer', 'POST', '', { body: { format: 'csv', ...of(JSON.rawJSON('9007199254740993')) } });
    expect([long.status, long.body.errors[0]?.message]).toEqual([400, 'has more digits than are kept of a number: send it as text']);
  });

  test('refusals at the POST: who, what, and what a read would refuse', async () => {
    const post = (body: object, name: Name = 'viewer') => call(name, 'POST', '', { body: { tableName: tableId, format: 'csv', ...body } });
    expect((await site.as(null)('POST', `${base}/exports`, { body: {} })).status).toBe(401);
    expect((await post({}, 'stranger')).body.code).toBe('ACTION_DENIED');
    expect(await call('viewer', 'POST', '', { body: { format: 'csv' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/tableName' }] },
    });
    expect((await post({ tableName: 'nothing' })).body.code).toBe('TABLE_NOT_FOUND');
    expect((await post({ format: 'xls' })).body.errors[0].path).toBe('/format');
    expect((await post({ columns: 'plto' })).text).toContain('plot');
    expect(await post({ filters: [{ column: 'plot', operator: 'equal', value: 1 }] })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/filters/0/operator' }] },
    });
    expect((await post({ filters: '[{' })).body.errors[0].path).toBe('/filters');
    expect((await post({ limit: 100_001 })).status).toBe(400);
    expect((await post({ asOf: 99 })).body.code).toBe('TABLE_VERSION_UNKNOWN');
    for (const asOf of [2 ** 53, 2 ** 63, 1e300]) expect((await post({ asOf })).status).toBe(400);
    expect((await post({ anonymizeContributors: false })).body.code).toBe('NAMES_DENIED');
    expect((await call('viewer', 'GET', '')).body.errors[0].path).toBe('?tableName');
    expect((await call('viewer', 'GET', '', { query: { tableName: tableId, pagesize: 3 } })).status).toBe(400);
    const key = { headers: { 'idempotency-key': 'once' }, body: { tableName: tableId, format: 'csv' } };
    const first = await call('viewer', 'POST', '', key);
    expect((await call('viewer', 'POST', '', key)).body).toEqual(first.body);
    for (const path of [`/${crypto.randomUUID()}`, `/${crypto.randomUUID()}/status`])
      expect(await call('viewer', 'GET', path)).toMatchObject({ status: 404, body: { code: 'EXPORT_NOT_FOUND' } });
    expect((await call('viewer', 'GET', '/nonsense')).body.code).toBe('INVALID_ID');
  });

  test('of many removals of a finished export at once one is carried out', async () => {
    const exportId = await start({});
    expect(await finished(exportId)).toMatchObject({ status: 'completed' });
    const many = await Promise.all(Array.from({ length: 5 }, () => call('viewer', 'DELETE', `/${exportId}`)));
    expect(many.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404]);
  });

  test('of a person a hundred may be unfinished, and files be kept up to a size', async () => {
    const release = await hold('member');
    await grant(site.db, { id: experimentId, type: 'experiment' }, { user: site.cast.member.id }, 'viewer');
    const ask = () => call('member', 'POST', '', { body: { tableName: tableId, format: 'csv' } });
    const asked = await Promise.all(Array.from({ length: 104 }, ask));
    expect(asked.filter(({ status }) => status === 201)).toHaveLength(100);
    const refused = asked.filter(({ status }) => status !== 201);
    for (const { status, body } of refused)
      expect({ status, ...body }).toMatchObject({
        status: 409,
        code: 'EXPORTS_FULL',
        detail: 'You have 100 exports that are not finished, which is as much as one person may have; remove some of your exports first.',
      });
    await start({});
    const [first, second, ...others] = asked.flatMap(({ status, body }) => (status === 201 ? [body.exportId as string] : []));
    for (const each of others) expect((await call('member', 'DELETE', `/${each}`)).status).toBe(200);
    await release();
    expect((await finished(first!, 'member')).status).toBe('completed');
    expect((await finished(second!, 'member')).status).toBe('completed');

    // what is in the queue when a file comes to be too large is not written
    const again = await hold('member');
    const waiting = await start({}, 'member');
    await set(sql('test')`update exports set file_size = 20 * 1073741824::bigint where id = ${first!}`);
    expect((await ask()).body).toMatchObject({
      code: 'EXPORTS_FULL',
      detail: expect.stringContaining('You have 20 GB of exported files,'),
    });
    await again();
    expect(await finished(waiting, 'member')).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringContaining('20 GB of exported files'),
    });
    await start({});
    expect((await call('member', 'DELETE', `/${first}`)).status).toBe(200);
    expect((await ask()).status).toBe(201);
  });

  test('DELETE /api/v1/experiments/{id}/data/exports/{exportId}: not ready, cancelled, failed, expired, removed', async () => {
    const release = await hold('viewer');
    const exportId = await start({});
    const early = await call('viewer', 'GET', `/${exportId}`);
    expect(early).toMatchObject({
      status: 409,
      body: { code: 'EXPORT_NOT_READY', exportStatus: 'queued', progress: { percent: 0, rows: 0, bytes: 0, totalRows: null } },
    });
    expect(early.headers.get('retry-after')).toBe('2');
    expect((await call('member', 'DELETE', `/${exportId}`)).body.code).toBe('EXPORT_NOT_YOURS');
    expect(await call('viewer', 'DELETE', `/${exportId}`)).toMatchObject({ status: 200, body: null });
    await release();
    expect((await finished(exportId)).status).toBe('cancelled');
    expect((await call('viewer', 'GET', `/${exportId}`)).body.code).toBe('EXPORT_CANCELLED');
    expect((await call('owner', 'DELETE', `/${exportId}`)).status).toBe(200);
    expect((await call('viewer', 'GET', `/${exportId}`)).status).toBe(404);

    // a table version that is let go of before the export is begun
    const later = await hold('viewer');
    const failing = await start({});
    await set(sql('test')`update exports set table_version = 77 where id = ${failing}`);
    await later();
    expect(await finished(failing)).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringContaining('has no version 77'),
      filePath: null,
    });
    expect(await call('viewer', 'GET', `/${failing}`)).toMatchObject({ status: 409, body: { code: 'EXPORT_FAILED' } });

    const old = await start({});
    await finished(old);
    await set(sql('test')`update exports set expires_at = now() where id = ${old}`);
    expect(await call('viewer', 'GET', `/${old}`)).toMatchObject({ status: 410, body: { code: 'EXPORT_EXPIRED' } });
    const objects = async () => {
      const keys: string[] = [];
      for await (const { key } of (await site.context()).objects.list(`exports/${old}/`)) keys.push(key);
      return keys;
    };
    expect(await objects()).toHaveLength(1);
    await expireExports(await site.context());
    expect(await objects()).toEqual([]);
    expect((await call('viewer', 'GET', `/${old}/status`)).body).toMatchObject({ status: 'completed', filePath: null });
  });

  test('one whose file the store does not remove stays, and is removed by the next try', async () => {
    const exportId = await start({}, 'owner');
    expect(await finished(exportId, 'owner')).toMatchObject({ status: 'completed' });
    const context = await site.context();
    const caller: Caller = {
      userId: site.cast.owner.id,
      via: { kind: 'key', keyId: crypto.randomUUID() },
      requestId: 'removing',
      organizationId: null,
      created: async (_tx, answer) => answer,
    };
    const away = { ...context, objects: { ...context.objects, delete: () => Promise.reject(new Error('the store is away')) } };
    await expect(removeExport(away, caller, { experimentId, exportId })).rejects.toThrow('the store is away');
    expect(await call('owner', 'GET', `/${exportId}`)).toMatchObject({ status: 200 });
    await removeExport(context, caller, { experimentId, exportId });
    expect(await call('owner', 'GET', `/${exportId}`)).toMatchObject({ status: 404 });
    const left: string[] = [];
    for await (const { key } of context.objects.list(`exports/${exportId}/`)) left.push(key);
    expect(left).toEqual([]);
    const said = await site.db.rows(
      sql('test')`select action from audit_events where details ->> 'exportId' = ${exportId} and action = 'export.deleted'`,
    );
    expect(said).toHaveLength(1);
  });

  test('two exports of a person run at once; the others wait for them', async () => {
    const release = await hold('member');
    const ids = await Promise.all(Array.from({ length: 5 }, () => start({}, 'member')));
    await set(
      sql(
        'test',
      )`update exports set status = 'running', heartbeat_at = now() + interval '1 hour' where id = any (${ids.slice(0, 2)}::uuid[])`,
    );
    await release();
    await sleep(1_500);
    const states = await Promise.all(ids.map(async (id) => (await call('member', 'GET', `/${id}/status`)).body.status as string));
    expect(states).toEqual(['running', 'running', 'queued', 'queued', 'queued']);
    // the process of the two is gone
    await set(
      sql(
        'test',
      )`update exports set heartbeat_at = now() - interval '1 minute', queued_at = now() - interval '1 minute' where id = any (${ids}::uuid[])`,
    );
    for (const id of ids) expect((await finished(id, 'member')).status).toBe('completed');
  });

  test('a file never shows names that its reader may not see', async () => {
    const owner = site.as(site.cast.owner);
    const columns = 'plot,contributor';
    const open = await start({ columns });
    expect(await finished(open)).toMatchObject({ anonymizeContributors: false });
    expect((await call('viewer', 'GET', `/${open}`)).text).toContain('Owner Tester');
    const insisted = await start({ columns, anonymizeContributors: false }, 'owner');
    await finished(insisted);
    const hidden = await written({ columns, anonymizeContributors: true });
    expect(hidden.text).toContain('Contributor-');
    expect(hidden.text).not.toContain('Tester');
    const release = await hold('viewer');
    const during = await start({ columns });

    await owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: true } });
    await release();
    expect(await finished(during)).toMatchObject({ status: 'completed', anonymizeContributors: true });
    for (const answer of [await call('viewer', 'GET', `/${during}`), await written({ columns }), await written({ columns }, 'owner')]) {
      expect(answer.text).toContain('Contributor-');
      for (const secret of ['Owner', 'Tester', site.cast.owner.id]) expect(answer.text).not.toContain(secret);
    }
    for (const name of ['viewer', 'owner'] as const)
      expect(await call(name, 'GET', `/${open}`)).toMatchObject({ status: 409, body: { code: 'EXPORT_WITHDRAWN' } });
    expect((await call('viewer', 'GET', `/${insisted}`)).body.code).toBe('NAMES_DENIED');
    expect((await call('owner', 'GET', `/${insisted}`)).text).toContain('Owner Tester');
    const list = await call('viewer', 'GET', '', { query: { tableName: tableId } });
    for (const person of [site.cast.owner, site.cast.member]) expect(list.text).not.toContain(person.id);

    // who may read the table no longer may download nothing any more
    const own = await start({ columns });
    await finished(own);
    expect((await call('viewer', 'GET', `/${own}`)).status).toBe(200);
    await set(sql('test')`delete from grants where user_id = ${site.cast.viewer.id}`);
    for (const path of [`/${own}`, `/${own}/status`]) expect((await call('viewer', 'GET', path)).status).toBe(403);
  });

  test('names of files, and ranges', () => {
    expect(makeSlug('  Ærø / Straße №7 — Łódź ')).toBe('aero-strasse-no7-lodz');
    expect(makeSlug('Ħal Għaxaq, Ŧ 1')).toBe('hal-ghaxaq-t-1');
    expect(makeSlug('日本')).toBe('');
    expect(makeSlug('x'.repeat(100))).toHaveLength(60);
    expect(makeFileName({ name: '..', id: 'e' }, { name: 'raw_data', id: 't' }, new Date('2026-06-01T08:09:10.999Z'), 'csv')).toBe(
      'e_raw-data_20260601_080910.csv',
    );
    expect(readByteRange('bytes=0-', 10)).toEqual({ start: 0, end: 9 });
    expect(readByteRange('bytes=-20', 10)).toEqual({ start: 0, end: 9 });
    expect(readByteRange('bytes=3-99', 10)).toEqual({ start: 3, end: 9 });
    for (const ignored of ['bytes=5-3', 'bytes=-', 'items=1-2', 'bytes=0-1,4-5', undefined]) expect(readByteRange(ignored, 10)).toBe(null);
    for (const beyond of ['bytes=10-', 'bytes=-0']) expect(() => readByteRange(beyond, 10)).toThrow();
  });

  test('a deleted experiment leaves no file', async () => {
    await site.as(site.cast.owner)('DELETE', `/api/v1/experiments/${experimentId}`);
    const left = async () => {
      const rows = await site.db.rows(sql('test')`select id from exports where experiment_id = ${experimentId}`);
      return rows.length;
    };
    for (let tries = 0; tries < 1_200 && (await left()) > 0; tries += 1) await sleep(50);
    expect(await left()).toBe(0);
    // and no attempt of any export has left an object that no row names
    const named = await site.db.rows<{ key: string }>(sql('test')`select object_key as key from exports where object_key is not null`);
    const kept: string[] = [];
    for await (const { key } of (await site.context()).objects.list('exports/')) kept.push(key);
    expect(kept.sort()).toEqual(named.map(({ key }) => key).sort());
  });
});
