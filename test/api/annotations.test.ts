import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { appendAnnotationChanges } from '../../src/ingest/annotation-log.ts';
import { compactTable } from '../../src/lakehouse/tables/maintenance.ts';
import { grant } from '../support/cast.ts';
import { eventually } from '../support/crashes.ts';
import { loseCommits } from '../support/lost-commits.ts';
import { startTestServer, type Answer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

type Name = 'owner' | 'viewer' | 'member' | 'stranger';
interface Entry {
  id: string;
  rowId: string;
  type: string;
  content: { text: string | null; flagType: string | null };
  createdBy: string | null;
  createdByName: string | null;
  createdAt: string;
  updatedAt: string;
}

const CSV = 'plot,spad\n1,41.5\n2,38.25\n3,35\n4,44.125\n';
let site: TestServer;
let experimentId: string;
let tableId: string;
let otherTableId: string;
let rows: string[];
let base: string;

const call = (name: Name, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  site.as(site.cast[name])(method, `${base}${path}`, { body, headers });
const comment = (text: string) => ({ type: 'comment', content: { type: 'comment', text } });
const flag = (flagType: string, text?: string) => ({ type: 'flag', content: { type: 'flag', flagType, text } });

async function read(tableName = tableId): Promise<{ id: string; annotations: Entry[] }[]> {
  const { body } = await site.as(site.cast.viewer)('GET', base, { query: { tableName } });
  return body[0].data.rows;
}
const annotationsOf = async (row: number): Promise<Entry[]> => (await read())[row]!.annotations;
const changes = async () =>
  (
    await site.db.one<{ rows: number }>(
      sql(
        'test',
      )`select coalesce(sum(row_count), 0)::int as rows from lake_tables where experiment_id = ${experimentId} and kind = 'annotation'`,
    )
  )?.rows;

beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Noted', organizationId: site.cast.leafLab } })).body.id;
  base = `/api/v1/experiments/${experimentId}/data`;
  await grant(site.db, { id: experimentId, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
  tableId = await uploadTable(owner, experimentId, 'spad', CSV);
  otherTableId = await uploadTable(owner, experimentId, 'other', 'plot,spad\n7,1\n');
  rows = (await read()).map(({ id }) => id);
});
afterAll(() => site.stop());

describe('annotations', () => {
  test('POST /api/v1/experiments/{id}/data/annotations is read with the row at once, and changes the entity tag', async () => {
    const get = (headers = {}) => site.as(site.cast.viewer)('GET', base, { query: { tableName: tableId }, headers });
    const etag = (await get()).headers.get('etag') ?? '';
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    const made = await call('viewer', 'POST', '/annotations', {
      tableName: 'spad',
      rowId: rows[0],
      annotation: comment('leaf "moved"\nñ'),
    });
    expect(made).toMatchObject({ status: 201, body: { rowsAffected: 1 } });
    expect((await get({ 'if-none-match': etag })).status).toBe(200);
    const [entry, ...more] = await annotationsOf(0);
    expect(more).toEqual([]);
    expect(entry).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      rowId: rows[0],
      type: 'comment',
      content: { text: 'leaf "moved"\nñ', flagType: null },
      createdBy: site.cast.viewer.id,
      createdByName: 'Viewer Tester',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: entry!.createdAt,
    });
    expect((await read()).slice(1).map(({ annotations }) => annotations)).toEqual([[], [], []]);
    expect((await read(otherTableId))[0]!.annotations).toEqual([]);
    const events = await site.db.rows<{ action: string; details: object }>(
      sql('test')`select action, details from audit_events where resource_id = ${experimentId} and action like 'annotation.%'`,
    );
    expect(events).toEqual([{ action: 'annotation.created', details: { tableId, rows: 1, annotationIds: [entry!.id] } }]);
  });

  test('POST /api/v1/experiments/{id}/data/annotations/bulk annotates every row once, or none', async () => {
    const before = await changes();
    const body = { tableName: tableId, rowIds: [rows[1], rows[2], rows[1]], annotation: flag('outlier', '') };
    const unknown = await call('owner', 'POST', '/annotations/bulk', { ...body, rowIds: [rows[1], 'nothing'] });
    expect(unknown).toMatchObject({
      status: 404,
      body: { code: 'ROWS_NOT_FOUND', rowIds: ['nothing'], detail: expect.stringContaining("'nothing'") },
    });
    expect(await changes()).toBe(before);
    const headers = { 'idempotency-key': 'bulk-once' };
    const made = await call('owner', 'POST', '/annotations/bulk', body, headers);
    expect(made).toMatchObject({ status: 201, body: { rowsAffected: 2 } });
    const again = await call('owner', 'POST', '/annotations/bulk', body, headers);
    expect(again).toMatchObject({ status: 201, body: { rowsAffected: 2 } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const all = await read();
    expect(all.map(({ annotations }) => annotations.length)).toEqual([1, 1, 1, 0]);
    expect(all[1]!.annotations[0]).toMatchObject({
      type: 'flag',
      content: { flagType: 'outlier', text: '' },
      createdByName: 'Owner Tester',
    });
  });

  test('PATCH /api/v1/experiments/{id}/data/annotations/{annotationId}: the last change is what it says', async () => {
    await call('viewer', 'POST', '/annotations', { tableName: tableId, rowId: rows[3], annotation: flag('outlier', 'first') });
    const [entry] = await annotationsOf(3);
    const path = `/annotations/${entry!.id}`;
    for (const text of ['second', undefined])
      expect(await call('viewer', 'PATCH', path, { content: { type: 'flag', flagType: 'needs_review', text } })).toMatchObject({
        status: 200,
        body: { rowsAffected: 1 },
      });
    const [changed, ...more] = await annotationsOf(3);
    expect(more).toEqual([]);
    expect(changed).toMatchObject({ ...entry, content: { flagType: 'needs_review', text: null }, updatedAt: expect.any(String) });
    expect(changed!.updatedAt > entry!.updatedAt).toBe(true);
    expect(await call('member', 'PATCH', path, { content: { type: 'flag', flagType: 'outlier' } })).toMatchObject({
      status: 403,
      body: { code: 'ANNOTATION_NOT_YOURS' },
    });
    expect((await call('owner', 'PATCH', path, { content: { type: 'flag', flagType: 'outlier' } })).status).toBe(200);
    expect((await annotationsOf(3))[0]).toMatchObject({ content: { flagType: 'outlier' }, createdBy: site.cast.viewer.id });
    expect(await call('owner', 'PATCH', path, { content: { type: 'comment', text: 'x' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/content/type' }] },
    });
    expect(await call('owner', 'PATCH', `/annotations/${crypto.randomUUID()}`, { content: { type: 'comment', text: 'x' } })).toMatchObject({
      status: 404,
      body: { code: 'ANNOTATION_NOT_FOUND' },
    });
    expect((await call('owner', 'PATCH', '/annotations/nonsense', { content: { type: 'comment', text: 'x' } })).body.code).toBe(
      'INVALID_ID',
    );
  });

  test('DELETE /api/v1/experiments/{id}/data/annotations/{annotationId} is final', async () => {
    const [entry] = await annotationsOf(3);
    expect((await call('member', 'DELETE', `/annotations/${entry!.id}`)).body.code).toBe('ANNOTATION_NOT_YOURS');
    expect(await call('viewer', 'DELETE', `/annotations/${entry!.id}`)).toMatchObject({ status: 200, body: { rowsAffected: 1 } });
    expect(await annotationsOf(3)).toEqual([]);
    expect((await call('viewer', 'DELETE', `/annotations/${entry!.id}`)).status).toBe(404);
  });

  test('POST /api/v1/experiments/{id}/data/annotations/bulk-delete removes what the caller may remove, and counts it', async () => {
    const on = { tableName: tableId, rowIds: [rows[0], rows[3]] };
    await call('member', 'POST', '/annotations/bulk', { ...on, annotation: comment('mine') });
    await call('viewer', 'POST', '/annotations/bulk', { ...on, annotation: flag('outlier') });
    const removal = { ...on, type: 'comment' };
    expect((await call('member', 'POST', '/annotations/bulk-delete', { ...removal, rowIds: [rows[0], 'gone'] })).status).toBe(404);
    expect(await call('member', 'POST', '/annotations/bulk-delete', removal)).toMatchObject({ status: 200, body: { rowsAffected: 2 } });
    expect((await annotationsOf(0)).map(({ type, createdByName }) => [type, createdByName])).toEqual([
      ['comment', 'Viewer Tester'],
      ['flag', 'Viewer Tester'],
    ]);
    expect((await call('member', 'POST', '/annotations/bulk-delete', removal)).body).toEqual({ rowsAffected: 0 });
    expect((await call('owner', 'POST', '/annotations/bulk-delete', removal)).body).toEqual({ rowsAffected: 1 });
    expect((await annotationsOf(0)).map(({ type }) => type)).toEqual(['flag']);
  });

  test('of many removals at once each annotation is counted by one', async () => {
    const body = { tableName: tableId, rowIds: rows, annotation: comment('gone soon') };
    const five = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, make));
    await call('viewer', 'POST', '/annotations/bulk', body);
    const [{ id }] = (await annotationsOf(3)) as [Entry];
    const single = await five(() => call('viewer', 'DELETE', `/annotations/${id}`));
    expect(single.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404]);
    const comments = async () =>
      (await read()).flatMap((row) => row.annotations).filter((each) => each.type === 'comment' && each.createdBy === site.cast.viewer.id);
    const before = (await comments()).length;
    expect(before).toBeGreaterThan(2);
    const removal = { tableName: tableId, rowIds: rows, type: 'comment' };
    const many = await five(() => call('viewer', 'POST', '/annotations/bulk-delete', removal));
    expect(many.reduce((sum, { body: { rowsAffected } }) => sum + Number(rowsAffected), 0)).toBe(before);
    expect(await comments()).toEqual([]);
  });

  test('GET /api/v1/experiments/{id}/data finds rows by their flags, in pages, counts, aggregations, downloads and exports', async () => {
    const owner = site.as(site.cast.owner);
    const table = await uploadTable(owner, experimentId, 'flagged', CSV);
    const ids = (await read(table)).map(({ id }) => id);
    const flagRow = (row: number, type: string) =>
      call('owner', 'POST', '/annotations', { tableName: table, rowId: ids[row], annotation: flag(type) });
    const find = (filters: object[], more: Record<string, string | number> = {}) =>
      site.as(site.cast.viewer)('GET', base, { query: { tableName: table, filters: JSON.stringify(filters), ...more } });
    const has = (operator: string, value?: unknown, column = 'annotations') => ({ column, operator, value });
    const plots = async (...filters: object[]) => {
      const { status, body } = await find(filters, { columns: 'plot' });
      expect([status, body[0]?.totalRows]).toEqual([200, body[0]?.data.rows.length]);
      return body[0].data.rows.map(({ plot }: { plot: number }) => plot);
    };
    expect(await plots(has('has_flag', 'outlier'))).toEqual([]);
    expect(await plots(has('has_no_flag', 'outlier'))).toHaveLength(4);
    const [made] = [await flagRow(0, 'outlier'), await flagRow(0, 'needs_review'), await flagRow(1, 'needs_review')];
    await call('owner', 'POST', '/annotations', { tableName: table, rowId: ids[2], annotation: comment('outlier') });
    const [first, second, third, fourth] = (await read(table)).map((row) => (row as unknown as { plot: number }).plot);
    expect(await plots(has('has_flag', 'outlier'))).toEqual([first]);
    expect(await plots(has('has_flag', 'needs_review'))).toEqual([first, second]);
    expect(await plots(has('has_flag', ['outlier', 'needs_review']))).toEqual([first, second]);
    expect(await plots(has('has_flag', 'needs_review'), has('has_no_flag', 'outlier'))).toEqual([second]);
    expect(await plots(has('has_no_flag', ['outlier', 'needs_review']))).toEqual([third, fourth]);
    expect(await plots(has('has_flag', 'needs_review'), has('greater_than', 1, 'plot'))).toEqual([2]);
    const counted = await find([has('has_no_flag', 'outlier')], {
      aggregation: JSON.stringify({ functions: [{ column: '*', function: 'count', alias: 'n' }] }),
    });
    expect(counted.body[0].data.rows).toEqual([{ n: 3 }]);
    expect((await find([has('has_flag', 'needs_review')], { format: 'csv', columns: 'plot' })).text.trim().split('\n')).toHaveLength(3);
    const started = await call('owner', 'POST', '/exports', {
      tableName: table,
      format: 'csv',
      columns: ['plot'],
      filters: [has('has_flag', 'outlier')],
    });
    expect(started.status).toBe(201);
    const file = await eventually(
      () => call('owner', 'GET', `/exports/${started.body.exportId}`),
      ({ status }) => status === 200,
      20_000,
    );
    expect(file.text.trim().split('\n')).toEqual(['plot', String(first)]);
    for (const [filter, said] of [
      [
        has('has_flag', 'outlyer'),
        "'outlyer' is no flag type; the operator takes a flag type, or an array of them: outlier, needs_review. Did you mean 'outlier'?",
      ],
      [has('has_flag'), 'takes a flag type, or an array of them: outlier, needs_review.'],
      [has('has_flag', 1), 'takes a flag type, or an array of them: outlier, needs_review.'],
      [has('has_no_flag', []), 'the array is empty.'],
      [has('has_flag', 'outlier', 'plot'), "works on the column 'annotations' only."],
      [has('equals', 'outlier'), 'annotations are asked for by has_flag and has_no_flag.'],
    ] as const) {
      const refused = await find([filter]);
      expect([refused.status, refused.body.code]).toEqual([400, 'QUERY_REFUSED']);
      expect(refused.body.detail).toContain(said);
    }
    expect(made.status).toBe(201);
  });

  test('refusals: who, what, and in which order', async () => {
    const good = { tableName: tableId, rowId: rows[0], annotation: comment('fine') };
    const post = (body: unknown, name: Name = 'viewer') => call(name, 'POST', '/annotations', body);
    expect((await post(good)).status).toBe(201);
    expect((await site.as(null)('POST', `${base}/annotations`, { body: good })).status).toBe(401);
    expect((await post({}, 'stranger')).status).toBe(403);
    expect((await post({ ...good, tableName: 'nothing' })).body.code).toBe('TABLE_NOT_FOUND');
    const problem = async (annotation: unknown) => {
      const { status, body } = await post({ ...good, annotation });
      expect(status).toBe(400);
      return body.errors.map(({ path }: { path: string }) => path);
    };
    const content = '/annotation/content';
    expect(await problem(comment(''))).toEqual([`${content}/text`]);
    expect(await problem(comment('x'.repeat(256)))).toEqual([`${content}/text`]);
    expect(await problem(comment('nul \0'))).toEqual([`${content}/text`]);
    expect(await problem(flag('odd'))).toEqual([`${content}/flagType`]);
    expect(await problem({ type: 'flag', content: { type: 'flag' } })).toEqual([`${content}/flagType`]);
    expect(await problem({ type: 'flag', content: { type: 'comment', text: 'x' } })).toEqual([`${content}/flagType`, `${content}/type`]);
    expect((await post({ ...good, rowId: '' })).status).toBe(400);
    expect((await post({ ...good, tableName: 'device' })).body).toMatchObject({ status: 400, errors: [{ path: '/tableName' }] });
    expect((await post({ ...good, tableName: 'raw_data' })).status).toBe(404);
    expect((await call('viewer', 'POST', '/annotations/bulk', { tableName: tableId, rowIds: [], annotation: comment('x') })).status).toBe(
      400,
    );
    const tooMany = Array.from({ length: 10_001 }, () => 'x');
    expect(
      (await call('viewer', 'POST', '/annotations/bulk', { tableName: tableId, rowIds: tooMany, annotation: comment('x') })).status,
    ).toBe(400);
  });

  test('hostile text comes back as it was sent, and rides in a CSV', async () => {
    const text = `'); drop table x; -- \\ " {{ \u202e 😀`;
    const made = await call('viewer', 'POST', '/annotations', { tableName: tableId, rowId: rows[1], annotation: comment(text) });
    expect(made.status).toBe(201);
    expect((await annotationsOf(1)).map(({ content }) => content.text)).toContain(text);
    const csv = await site.as(site.cast.viewer)('GET', base, {
      query: { tableName: tableId, columns: 'plot,annotations' },
      headers: { accept: 'text/csv' },
    });
    expect(csv.text).toContain('drop table x');
  });

  test('a change whose commit Postgres did not answer stays readable', async () => {
    const { db, staging } = await site.context();
    const at = new Date().toISOString();
    const change = { id: randomUUID(), tableId, rowId: rows[3]!, sequence: 1, deleted: false, type: 'comment', text: 'not answered' };
    const whole = { ...change, flagType: null, createdBy: site.cast.viewer.id, createdAt: at, updatedAt: at };
    const append = appendAnnotationChanges({ db: loseCommits(db), staging }, experimentId, [whole], () => Promise.resolve());
    await expect(append).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect((await annotationsOf(3)).map(({ content }) => content.text)).toContain('not answered');
  });

  test('an anonymised experiment shows pseudonyms for authors, everywhere', async () => {
    const owner = site.as(site.cast.owner);
    await owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: true } });
    const { text, body } = await owner('GET', base, { query: { tableName: tableId } });
    const entries = (body[0].data.rows as { annotations: Entry[] }[]).flatMap(({ annotations }) => annotations);
    expect(entries.length).toBeGreaterThan(2);
    for (const entry of entries) {
      expect(entry.createdBy).toMatch(/^Contributor-[0-9A-F]{16}$/);
      expect(entry.createdByName).toBe(entry.createdBy);
    }
    for (const person of [site.cast.owner, site.cast.viewer, site.cast.member]) expect(text).not.toContain(person.id);
    expect(text).not.toContain('Tester');
    await owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { anonymizeContributors: false } });
  });

  test('many at once are all kept, and an archived experiment takes none', async () => {
    const before = (await annotationsOf(2)).length;
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        call(at % 2 ? 'viewer' : 'member', 'POST', '/annotations', {
          tableName: tableId,
          rowId: rows[2],
          annotation: comment(`at once ${at}`),
        }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
    const entries = await annotationsOf(2);
    expect(entries).toHaveLength(before + 12);
    // the small files of the log become one, and say the same
    const { db, staging } = await site.context();
    const log = await db.one<{ id: string }>(
      sql('test')`select id from lake_tables where experiment_id = ${experimentId} and kind = 'annotation'`,
    );
    // the server compacts at each full minute, and may have done so already or be at it
    const compact = async () => {
      await compactTable({ db, staging }, log!.id, { sortColumn: 'updated_at' });
      return db.one<{ files: number }>(
        sql('test')`select count(*)::integer as files from lake_files where table_id = ${log!.id} and to_version is null`,
      );
    };
    expect(await eventually(compact, (left) => left?.files === 1, 30_000)).toEqual({ files: 1 });
    expect(await annotationsOf(2)).toEqual(entries);
    await site.as(site.cast.owner)('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived' } });
    const id = entries.find(({ createdBy }) => createdBy === site.cast.viewer.id)!.id;
    const good = { tableName: tableId, rowId: rows[2], annotation: comment('late') };
    for (const answer of [
      await call('viewer', 'POST', '/annotations', good),
      await call('viewer', 'POST', '/annotations/bulk', { tableName: tableId, rowIds: [rows[2]], annotation: comment('late') }),
      await call('viewer', 'PATCH', `/annotations/${id}`, { content: { type: 'comment', text: 'late' } }),
      await call('viewer', 'DELETE', `/annotations/${id}`),
      await call('viewer', 'POST', '/annotations/bulk-delete', { tableName: tableId, rowIds: [rows[2]], type: 'comment' }),
    ])
      expect(answer).toMatchObject({ status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } });
    expect(await annotationsOf(2)).toEqual(entries);
  });
});
