import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { join } from 'node:path';
import { snapshotAt } from '../lakehouse/log-reader.ts';
import { makePerson } from '../support/cast.ts';
import { compareLogs } from '../support/lake-log.ts';
import { sharedSite, spawnServer } from '../support/process.ts';
import { callsTo, startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const experiment = async (body: object = {}, call = owner) =>
  String((await call('POST', '/api/v1/experiments', { body: { name: 'Columns', ...body } })).body.id);
const tableAt = (experimentId: string, tableId: string) => `/api/v1/experiments/${experimentId}/data/tables/${tableId}`;
const columnAt = (experimentId: string, tableId: string, name: string) =>
  `${tableAt(experimentId, tableId)}/columns/${encodeURIComponent(name)}`;
const refusal = ({ status, body }: Answer) => ({ status, code: String(body?.code) });

async function ended(experimentId: string, tableId: string, changeId: string, call = owner): Promise<any> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { body } = await call('GET', `${tableAt(experimentId, tableId)}/column-changes/${changeId}`);
    if (body.status === 'completed' || body.status === 'failed') return body;
    await sleep(50);
  }
  throw new Error('the change did not end');
}

async function change(experimentId: string, tableId: string, column: string, body: object, call = owner): Promise<any> {
  const asked = await call('PATCH', columnAt(experimentId, tableId, column), { body });
  expect(asked.status, asked.text).toBe(202);
  return ended(experimentId, tableId, String(asked.body.id), call);
}

const read = (id: string, tableName: string, query: Record<string, string | number> = {}, call = owner) =>
  call('GET', `/api/v1/experiments/${id}/data`, { query: { tableName, orderBy: 'n', ...query } });
/** The values of these columns, by `n`. */
async function valuesOf(id: string, tableName: string, columns: readonly string[], query: Record<string, string | number> = {}) {
  const { body, status, text } = await read(id, tableName, { ...query, columns: JSON.stringify(['n', ...columns]) });
  expect(status, text).toBe(200);
  return (body[0].data.rows as Record<string, unknown>[]).map((row) => columns.map((name) => row[name]));
}
const typesOf = async (id: string, tableId: string) => {
  const { body } = await owner('GET', `/api/v1/experiments/${id}/tables`);
  const table = (body as { identifier: string; columns: { name: string; type: string; originalKey: string | null }[] }[]).find(
    ({ identifier }) => identifier === tableId,
  );
  const base = ['id', 'uploaded_at', 'upload_id', 'contributor', 'annotations', 'experiment_id', 'contributor_id'];
  return Object.fromEntries((table?.columns ?? []).filter(({ name }) => !base.includes(name)).map(({ name, type }) => [name, type]));
};
const versionOf = async (tableId: string) =>
  (await site.db.one<{ version: number }>(sql('t')`select version from lake_tables where id = ${tableId}`))?.version ?? -1;

/** The columns that a reader of the Delta log finds at a version. */
async function loggedSchema(experimentId: string, tableId: string, version: number) {
  const published = async () =>
    (await site.db.one<{ version: number | null }>(sql('t')`select published_version as version from lake_tables where id = ${tableId}`))
      ?.version ?? -1;
  await vi.waitUntil(async () => (await published()) >= version, { timeout: 20_000 });
  const { schema } = snapshotAt(join(site.lakeFolder, 'tables', experimentId, tableId), version);
  return Object.fromEntries(schema.map(({ name, type }) => [name, type]));
}

// most of each is waiting, and each has an experiment of its own
test.concurrent('a column with zero bytes in a text becomes a number, and the report shows them as U+FFFD', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'zeros', 'n,v\n1,a\0\n2,2\n3,b\n4,c\n');
  const done = await change(id, tableId, 'v', { type: 'int' });
  expect(done).toMatchObject({ status: 'completed', report: { oddValues: 3 } });
  expect(done.report.oddExamples[0]).toMatchObject({ value: 'a\ufffd' });
  expect(await valuesOf(id, tableId, ['v', 'v__text'])).toContainEqual([null, 'a\0']);
});

test.concurrent('a column that was text because of a mark becomes a number under another name, and later files find it', async () => {
  const id = await experiment();
  // n.d. is not one of the marks, and three of six are more than a few
  const tableId = await uploadTable(owner, id, 'leaves', 'n,Chl a,note\n1,1.5,a\n2,n.d.,b\n3,2,c\n4,n.d.,d\n5,0.1,e\n6,n.d.,f\n');
  await appendTo(owner, id, tableId, 'n,note\n7,g\n');
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', 'Chl a': 'STRING', note: 'STRING' });
  const before = await versionOf(tableId);
  const [row] = (await read(id, tableId)).body[0].data.rows as { id: string }[];
  const comment = { type: 'comment', content: { type: 'comment', text: 'wet' } };
  await owner('POST', `/api/v1/experiments/${id}/data/annotations`, { body: { tableName: tableId, rowId: row?.id, annotation: comment } });

  const done = await change(id, tableId, 'chl A', { name: 'chlorophyll', type: 'double' });
  expect(done).toMatchObject({
    ...{ status: 'completed', column: 'Chl a', name: 'chlorophyll', type: 'double', uploadTableId: tableId, totalRows: 6, doneRows: 6 },
    report: {
      ...{ name: 'chlorophyll', type: 'DOUBLE', rows: 6, oddValues: 3, missingValues: 0, version: before + 1 },
      oddExamples: [
        { row: 2, value: 'n.d.' },
        { row: 4, value: 'n.d.' },
        { row: 6, value: 'n.d.' },
      ],
    },
  });
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', chlorophyll: 'DOUBLE', note: 'STRING', chlorophyll__text: 'STRING' });
  expect(await valuesOf(id, tableId, ['chlorophyll', 'chlorophyll__text', 'note'])).toEqual([
    [1.5, null, 'a'],
    [null, 'n.d.', 'b'],
    [2, null, 'c'],
    [null, 'n.d.', 'd'],
    [0.1, null, 'e'],
    [null, 'n.d.', 'f'],
    [null, null, 'g'],
  ]);
  const logged = await loggedSchema(id, tableId, before + 1);
  expect(logged).toMatchObject({ n: 'integer', chlorophyll: 'double', chlorophyll__text: 'string', note: 'string' });
  expect(Object.keys(logged)).not.toContain('Chl a');
  expect(await loggedSchema(id, tableId, before)).toMatchObject({ n: 'integer', 'Chl a': 'string', note: 'string' });
  // the version before has the column as it was, and what was said of rows stays
  expect(await valuesOf(id, tableId, ['Chl a'], { asOf: before })).toEqual([['1.5'], ['n.d.'], ['2'], ['n.d.'], ['0.1'], ['n.d.'], [null]]);
  expect((await read(id, tableId, { columns: '["Chl a"]' })).status).toBe(400);
  const noted = (await read(id, tableId)).body[0].data.rows as { id: string; annotations: { content: { text: string } }[] }[];
  expect(noted.map(({ annotations }) => annotations.length)).toEqual([1, 0, 0, 0, 0, 0, 0]);
  expect(noted[0]).toMatchObject({ id: row?.id, annotations: [{ content: { text: 'wet' } }] });

  // a later file lands there by what it calls the column
  await appendTo(owner, id, tableId, 'n,Chl a\n8,3.25\n9,n.d.\n');
  await appendTo(owner, id, tableId, 'n,CHL A\n10,4\n');
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', chlorophyll: 'DOUBLE', note: 'STRING', chlorophyll__text: 'STRING' });
  expect((await valuesOf(id, tableId, ['chlorophyll', 'chlorophyll__text'])).slice(7)).toEqual([
    [3.25, null],
    [null, 'n.d.'],
    [4, null],
  ]);

  // back to text nothing is lost, and nothing stands beside it any more
  const back = await change(id, tableId, 'chlorophyll', { type: 'string' });
  expect(back.report).toMatchObject({ type: 'STRING', oddValues: 0 });
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', chlorophyll: 'STRING', note: 'STRING' });
  expect((await valuesOf(id, tableId, ['chlorophyll'])).flat()).toEqual([
    '1.5',
    'n.d.',
    '2',
    'n.d.',
    '0.1',
    'n.d.',
    null,
    '3.25',
    'n.d.',
    '4',
  ]);
});

test.concurrent('only a name: values, odd ones and rows stay what they are', async () => {
  const id = await experiment();
  const lines = Array.from({ length: 300 }, (_, at) => `${at},${at === 7 ? 'broken' : at / 4}`);
  const tableId = await uploadTable(owner, id, 'leaves', `n,v\n${lines.join('\n')}\n`);
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', v: 'DOUBLE', v__text: 'STRING' });
  const kept = await valuesOf(id, tableId, ['v', 'v__text'], { limit: 1000 });
  expect(await change(id, tableId, 'v', { name: 'V' })).toMatchObject({
    status: 'completed',
    report: { name: 'V', type: 'DOUBLE', rows: 300, oddValues: 1, missingValues: 0 },
  });
  expect(await valuesOf(id, tableId, ['V', 'V__text'], { limit: 1000 })).toEqual(kept);
  expect(await change(id, tableId, 'V', { name: 'value (µmol/m²)' })).toMatchObject({ status: 'completed' });
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', 'value (µmol/m²)': 'DOUBLE', 'value (µmol/m²)__text': 'STRING' });
  expect(await valuesOf(id, tableId, ['value (µmol/m²)', 'value (µmol/m²)__text'], { limit: 1000 })).toEqual(kept);
  // the name is free, and the header is still the column's
  expect(await change(id, tableId, 'n', { name: 'v' })).toMatchObject({ status: 'completed' });
  await appendTo(owner, id, tableId, 'n,v\n900,0.5\n');
  const { body } = await owner('GET', `/api/v1/experiments/${id}/data`, {
    query: { tableName: tableId, filters: JSON.stringify([{ column: 'v', operator: 'equals', value: 900 }]) },
  });
  expect(body[0].data.rows).toMatchObject([{ v: 900, 'value (µmol/m²)': 0.5 }]);
});

interface Kind {
  from: string;
  sent: readonly string[];
  to: string;
  values: readonly unknown[];
  odd: number;
  more?: object;
}
const KINDS: readonly Kind[] = [
  { from: 'int', sent: ['1', '2', '-3'], to: 'bigint', values: [1, 2, -3], odd: 0 },
  { from: 'double', sent: ['0.5', '2', '1e300'], to: 'int', values: [null, 2, null], odd: 2 },
  { from: 'boolean', sent: ['true', 'false', 'true'], to: 'string', values: ['true', 'false', 'true'], odd: 0 },
  {
    ...{ from: 'date', sent: ['2026-05-01', '2026-12-31', '0001-01-01'], to: 'timestamp_ntz', odd: 0 },
    values: ['2026-05-01T00:00:00.000', '2026-12-31T00:00:00.000', '0001-01-01T00:00:00.000'],
  },
  {
    ...{ from: 'timestamp', to: 'date', values: [null, null, null], odd: 3 },
    sent: ['2026-05-01T10:00:00Z', '2026-05-01T12:30:00.25+02:00', '2026-05-01T00:00:00Z'],
  },
  { from: 'string', sent: ['yes', 'no', '?'], to: 'boolean', values: [true, false, null], odd: 1 },
  {
    ...{ from: 'string', to: 'date', values: ['2026-04-03', '2026-06-05', null], odd: 1, more: { dateOrder: 'dmy' } },
    sent: ['03/04/2026', '05/06/2026', 'soon'],
  },
  { from: 'string', sent: ['0,5', '1,25', '7'], to: 'double', values: [0.5, 1.25, 7], odd: 0, more: { decimal: ',' } },
  { from: 'string', sent: ['1.234,5', '1.000', '7'], to: 'double', values: [1234.5, 1000, 7], odd: 0, more: { decimal: ',' } },
  { from: 'string', sent: ['007', '', 'NA'], to: 'string', values: ['007', '', null], odd: 0 },
];

test.concurrent.for(KINDS)('$from $sent → $to: every value fits or stands beside, and returns', async (kind, { expect }) => {
  const { from, sent, to, values, odd, more } = kind;
  const id = await experiment();
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 't', types: JSON.stringify({ x: from }) }))
    form.append(name, value);
  form.append('files', new Blob([`n,x\n${sent.map((value, at) => `${at},"${value}"`).join('\n')}\n`]), 'rows.csv');
  const made = await owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form });
  const tableId = String(made.body.uploadTableId);
  await expect.poll(async () => (await typesOf(id, tableId))['x']).toBeDefined();
  const before = (await valuesOf(id, tableId, ['x'])).flat();
  const done = await change(id, tableId, 'x', { type: to, ...more });
  expect(done).toMatchObject({ status: 'completed', report: { oddValues: odd } });
  expect((await valuesOf(id, tableId, ['x'])).flat()).toEqual(values);
  if (odd > 0) {
    const beside = (await valuesOf(id, tableId, ['x__text'])).flat();
    expect(beside.map((text) => text !== null)).toEqual(values.map((value) => value === null));
  }
  const back = await change(id, tableId, 'x', { type: from });
  expect(back.status).toBe('completed');
  if (more) return;
  const after = (await valuesOf(id, tableId, ['x'])).flat();
  expect(after).toEqual(from === 'string' && to === 'boolean' ? ['true', 'false', '?'] : before);
});

test.concurrent('odd values are read once more under the same type, and empty columns change as well', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'n,x,e\n1,0.5,\n2,"0,75",\n3,none,\n');
  await change(id, tableId, 'x', { type: 'double' });
  expect(await valuesOf(id, tableId, ['x', 'x__text'])).toEqual([
    [0.5, null],
    [null, '0,75'],
    [null, 'none'],
  ]);
  expect((await change(id, tableId, 'x', { type: 'double', decimal: ',' })).report).toMatchObject({ oddValues: 1 });
  expect(await valuesOf(id, tableId, ['x', 'x__text'])).toEqual([
    [0.5, null],
    [0.75, null],
    [null, 'none'],
  ]);
  expect((await change(id, tableId, 'e', { type: 'date', name: 'empty' })).report).toMatchObject({ rows: 0, oddValues: 0, type: 'DATE' });
  expect(await typesOf(id, tableId)).toMatchObject({ empty: 'DATE', x: 'DOUBLE' });
  const before = await valuesOf(id, tableId, ['x', 'x__text', 'empty']);
  expect(before).toHaveLength(3);
  // compaction and later files go on with what the columns are
  await appendTo(owner, id, tableId, 'n,x,e\n4,1,2026-05-01\n');
  expect((await valuesOf(id, tableId, ['x', 'empty'])).at(-1)).toEqual([1, '2026-05-01']);
});

test.concurrent('what cannot be changed is refused, and the table stays what it is', async () => {
  const id = await experiment({ organizationId: site.cast.leafLab });
  const tableId = await uploadTable(owner, id, 'leaves', 'n,x,y\n1,a,b\n');
  const patch = (column: string, body: object, call = owner, table = tableId) => call('PATCH', columnAt(id, table, column), { body });
  expect(await change(id, tableId, 'x', { name: 'x1' })).toMatchObject({ status: 'completed' });

  for (const column of ['id', 'uploaded_at', 'contributor', 'annotations', 'experiment_id', 'x1__text'])
    expect([column, refusal(await patch(column, { name: 'z' }))]).toEqual([column, { status: 400, code: 'COLUMN_FIXED' }]);
  for (const name of ['id', 'ID', 'contributor_id', ' z', 'z ', 'z__text', 'fieldlake_row', 'a\u0000b'])
    expect([name, refusal(await patch('x1', { name }))]).toEqual([name, { status: 400, code: 'COLUMN_FIXED' }]);
  for (const name of ['y', 'Y']) expect(refusal(await patch('x1', { name }))).toEqual({ status: 409, code: 'COLUMN_NAME_TAKEN' });
  expect(refusal(await patch('x', { name: 'z' }))).toEqual({ status: 404, code: 'COLUMN_NOT_FOUND' });
  for (const body of [
    {},
    { type: 'variant' },
    { type: 'INT' },
    { name: '' },
    { name: 'n'.repeat(256) },
    { nme: 'z' },
    { dateOrder: 'dmy' },
  ])
    expect([body, refusal(await patch('x1', body))]).toEqual([body, { status: 400, code: 'INVALID_INPUT' }]);
  expect(refusal(await patch('x1', { name: 'z' }, owner, crypto.randomUUID()))).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });
  expect(refusal(await patch('x1', { name: 'z' }, owner, 'leaves'))).toEqual({ status: 400, code: 'INVALID_ID' });
  const macroId = crypto.randomUUID();
  await site.db.run(
    sql('t')`insert into lake_tables (id, experiment_id, kind, identifier) values (gen_random_uuid(), ${id}, 'macro', ${macroId})`,
  );
  expect(refusal(await patch('x1', { name: 'z' }, owner, macroId))).toEqual({ status: 400, code: 'TABLE_NOT_UPLOADED' });

  const viewer = await makePerson(site.db, 'columns-viewer');
  const grant = { granteeType: 'user', granteeId: viewer.id, role: 'viewer' };
  expect((await owner('POST', `/api/v1/experiment/${id}/collaborators`, { body: grant })).status).toBe(201);
  expect(refusal(await patch('x1', { name: 'z' }, site.as(viewer)))).toEqual({ status: 403, code: 'ACTION_DENIED' });
  expect(refusal(await patch('x1', { name: 'z' }, site.as(site.cast.stranger))).status).toBeGreaterThanOrEqual(403);
  expect((await patch('x1', { name: 'z' }, site.as(null))).status).toBe(401);

  // one at a time
  const changes = `${tableAt(id, tableId)}/column-changes`;
  const first = await patch('x1', { type: 'double' });
  expect([first.status, first.body.status]).toEqual([202, 'queued']);
  await site.db.transaction(async (tx) => {
    // as long as its row is held it cannot end
    const row = await tx.one<{ status: string }>(
      sql('t')`select status from column_changes where id = ${String(first.body.id)} for update`,
    );
    expect(row?.status).not.toBe('completed');
    expect(refusal(await patch('y', { name: 'z' }))).toEqual({ status: 409, code: 'COLUMN_CHANGE_RUNNING' });
  });
  const told = await ended(id, tableId, String(first.body.id), site.as(viewer));
  expect(told).toMatchObject({ status: 'completed', report: { oddValues: 1, oddExamples: [{ row: 1, value: 'a' }] } });
  expect(await change(id, tableId, 'y', { name: 'z' })).toMatchObject({ status: 'completed' });
  const elsewhere = [tableAt(id, macroId), tableAt(id, crypto.randomUUID()), tableAt(await experiment(), tableId)];
  for (const table of elsewhere)
    expect(refusal(await owner('GET', `${table}/column-changes/${String(first.body.id)}`))).toEqual({
      ...{ status: 404, code: 'COLUMN_CHANGE_NOT_FOUND' },
    });
  expect(refusal(await owner('GET', `${changes}/${crypto.randomUUID()}`))).toEqual({ status: 404, code: 'COLUMN_CHANGE_NOT_FOUND' });
  expect((await site.as(null)('GET', `${changes}/${String(first.body.id)}`)).status).toBe(401);
  expect((await site.as(site.cast.stranger)('GET', `${changes}/${String(first.body.id)}`)).status).toBe(403);

  expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).status).toBe(200);
  expect(refusal(await patch('x1', { name: 'zz' }))).toEqual({ status: 409, code: 'EXPERIMENT_ARCHIVED' });
});

test.concurrent('values of JSON files, and columns of any name', async ({ expect }) => {
  const id = await experiment();
  const lines = [
    { n: 1, v: 1.5, 'a"b': '1', fieldlake_sent: 'x' },
    { n: 2, v: { deep: [1] }, 'a"b': '2', fieldlake_sent: 'y' },
    { n: 3, v: [2], 'a"b': '-', fieldlake_sent: 'z' },
  ].map((row) => JSON.stringify(row));
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'ndjson', targetKind: 'new', targetName: 't' })) form.append(name, value);
  form.append('files', new Blob([lines.join('\n')]), 'rows.ndjson');
  const made = await owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form });
  const tableId = String(made.body.uploadTableId);
  await expect.poll(async () => (await typesOf(id, tableId))['v']).toBeDefined();
  const [type] = [(await typesOf(id, tableId))['v']];
  const before = await valuesOf(id, tableId, ['v']);
  expect(await change(id, tableId, 'v', { type: 'string' })).toMatchObject({ status: 'completed', report: { oddValues: 0 } });
  expect([type, (await valuesOf(id, tableId, ['v'])).flat().map(String)]).toEqual([
    expect.anything(),
    expect.arrayContaining(['{"deep":[1]}']),
  ]);
  expect(before).toHaveLength(3);
  expect(await change(id, tableId, 'a"b', { type: 'int', name: "it's; drop" })).toMatchObject({
    status: 'completed',
    report: { oddValues: 1 },
  });
  expect(await valuesOf(id, tableId, ["it's; drop", 'fieldlake_sent'])).toEqual([
    [1, 'x'],
    [2, 'y'],
    [null, 'z'],
  ]);
  expect(await change(id, tableId, 'fieldlake_sent', { type: 'double', name: '__proto__' })).toMatchObject({ report: { oddValues: 3 } });
  expect(await change(id, tableId, '__proto__', { type: 'string', name: 'fieldlake_read' })).toMatchObject({ status: 'completed' });
  expect((await valuesOf(id, tableId, ['fieldlake_read'])).flat()).toEqual(['x', 'y', 'z']);
});

test.concurrent('files that arrive while a column changes keep all their rows, and land in it', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'n,x\n0,a\n');
  for (let round = 1; round <= 4; round += 1) {
    const isText = round % 2 === 0;
    const [done] = await Promise.all([
      change(id, tableId, isText ? 'number' : 'x', isText ? { name: 'x', type: 'string' } : { name: 'number', type: 'int' }),
      ...[1, 2, 3].map((file) => appendTo(owner, id, tableId, `n,x\n${round * 10 + file},${round * 10 + file}\n`)),
    ]);
    expect(done).toMatchObject({ status: 'completed' });
  }
  const values = await valuesOf(id, tableId, ['x']);
  expect(values.flat()).toEqual(['a', '11', '12', '13', '21', '22', '23', '31', '32', '33', '41', '42', '43']);
  expect(await typesOf(id, tableId)).toEqual({ n: 'INT', x: 'STRING' });
});

test.concurrent('a change of a table that is removed ends with it', async ({ expect }) => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'n,x\n0,a\n');
  const asked = await owner('PATCH', columnAt(id, tableId, 'x'), { body: { name: 'y' } });
  expect(asked.status).toBe(202);
  expect((await owner('DELETE', tableAt(id, tableId))).status).toBe(200);
  const gone = await owner('GET', `${tableAt(id, tableId)}/column-changes/${String(asked.body.id)}`);
  expect(refusal(gone)).toEqual({ status: 404, code: 'COLUMN_CHANGE_NOT_FOUND' });
  const waiting = () =>
    site.db.rows(sql('t')`
      select from pgboss.job
      where name = 'tables.change-column' and state in ('created', 'retry', 'active') and data ->> 'changeId' = ${String(asked.body.id)}`);
  await expect.poll(async () => (await waiting()).length).toBe(0);
});

test.concurrent('a change survives a kill', async ({ expect }) => {
  const shared = await sharedSite();
  try {
    const person = await makePerson(shared.database.db, 'owner');
    const first = await spawnServer(shared.environment);
    const call = callsTo(first.baseUrl)(person);
    const id = await experiment({}, call);
    const lines = Array.from({ length: 400_000 }, (_, at) => `${at},v${at},${at}`);
    const tableId = await uploadTable(call, id, 'leaves', `n,x,y\n${lines.join('\n')}\n`);
    const asked = await call('PATCH', columnAt(id, tableId, 'x'), { body: { type: 'double', name: 'code' } });
    expect(asked.status).toBe(202);
    const statusOf = async () =>
      (await shared.database.db.one<{ status: string }>(sql('t')`select status from column_changes where id = ${String(asked.body.id)}`))
        ?.status;
    await expect.poll(statusOf, { interval: 5, timeout: 20_000 }).toBe('running');
    await first.kill('SIGKILL');
    expect(await statusOf()).toBe('running');
    const second = await spawnServer(shared.environment);
    const again = callsTo(second.baseUrl)(person);
    const done = await ended(id, tableId, String(asked.body.id), again);
    expect(done).toMatchObject({ status: 'completed', doneRows: 400_000, report: { rows: 400_000, oddValues: 400_000 } });
    const { body } = await read(id, tableId, { columns: '["n","code","code__text","y"]', pageSize: 2 }, again);
    expect(body[0].totalRows).toBe(400_000);
    expect(body[0].data.rows).toEqual([
      { n: 0, code: null, code__text: 'v0', y: 0 },
      { n: 1, code: null, code__text: 'v1', y: 1 },
    ]);
    await second.kill('SIGTERM');
  } finally {
    await shared.remove();
  }
});

test('the logs of all the tables above say what the manifest says', async () => {
  expect(await compareLogs(site)).toBeGreaterThan(20);
});
