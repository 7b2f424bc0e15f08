import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let experimentId: string;
let path: string;
const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);
beforeAll(async () => {
  site = await startTestServer();
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Elsewhere', organizationId: site.cast.leafLab } });
  experimentId = String(made.body.id);
  path = `/api/v1/experiments/${experimentId}/data`;
});
afterAll(() => site.stop());

/** Sends one file into a new table and answers its report, or the refusal. */
async function send(name: string, csv: string, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name, ...fields }))
    form.append(field, value);
  form.append('files', new Blob([csv]), `rows.${fields.sourceKind ?? 'csv'}`);
  const made = await owner('POST', `${path}/uploads`, { body: form });
  if (made.status !== 201) return { status: made.status, body: made.body, columns: [] };
  const read = async () => (await owner('GET', `${path}/uploads/${String(made.body.uploadId)}`)).body;
  await expect.poll(async () => (await read()).status).not.toMatch(/pending|running/);
  const body = await read();
  return { status: 201, body, columns: body.files[0].columns as Record<string, unknown>[] };
}

const rowsOf = async (tableName: string, query: Record<string, string> = {}) =>
  (await owner('GET', path, { query: { tableName, orderBy: 'plot', ...query } })).body[0].data.rows as Record<string, unknown>[];

test('a German spreadsheet is numbers, days and truths, with a report of what was missing and odd', async () => {
  const lines = Array.from({ length: 30 }, (_, row) => `${row + 1};${row},5;${String(1 + row).padStart(2, '0')}.05.2026;yes`);
  lines[4] = '5;NA;05.05.2026;no';
  lines[9] = '10;> 99;10.05.2026;-';
  const { columns, body } = await send('german', `plot;spad;day;healthy\r\n${lines.join('\r\n')}\r\n`);
  expect(body).toMatchObject({ status: 'completed', rowsIn: 30, rowCount: 30, quarantined: 0 });
  expect(columns).toEqual([
    { name: 'plot', originalKey: 'plot', type: 'INT', oddValues: 0, missingValues: 0 },
    { name: 'spad', originalKey: 'spad', type: 'DOUBLE', oddValues: 1, oddExamples: [{ row: 10, value: '> 99' }], missingValues: 1 },
    { name: 'day', originalKey: 'day', type: 'DATE', oddValues: 0, missingValues: 0 },
    { name: 'healthy', originalKey: 'healthy', type: 'BOOLEAN', oddValues: 0, missingValues: 1 },
  ]);
  const rows = await rowsOf('german', { columns: 'plot,spad,spad__text,day,healthy' });
  expect(rows[0]).toEqual({ plot: 1, spad: 0.5, spad__text: null, day: '2026-05-01', healthy: true });
  expect(rows[4]).toMatchObject({ spad: null, spad__text: null, healthy: false });
  expect(rows[9]).toMatchObject({ spad: null, spad__text: '> 99', healthy: null });
  const filters = JSON.stringify([{ column: 'spad', operator: 'greater_than', value: 20 }]);
  expect(await rowsOf('german', { columns: 'plot', filters })).toHaveLength(10);
});

test('what the upload says of its files is done instead', async () => {
  const csv = 'plot,code,day,spad\n1,7,01/02/2026,-999\n2,8,03/04/2026,41\n';
  const untold = await send('untold', csv);
  expect(untold.columns.map(({ type }) => type)).toEqual(['INT', 'INT', 'STRING', 'INT']);
  expect(untold.columns[2]!.note).toContain('dateOrder');
  const told = await send('told', csv, { dateOrder: 'dmy', missing: '-999', types: '{"code":"string"}' });
  expect(told.columns.map(({ type }) => type)).toEqual(['INT', 'STRING', 'DATE', 'INT']);
  expect(await rowsOf('told', { columns: 'plot,code,day,spad' })).toEqual([
    { plot: 1, code: '7', day: '2026-02-01', spad: null },
    { plot: 2, code: '8', day: '2026-04-03', spad: 41 },
  ]);
});

test.each([
  [{ dateOrder: 'dym' }, '/dateOrder'],
  [{ decimal: ';' }, '/decimal'],
  [{ types: '{"code":' }, '/types'],
  [{ types: '{"code":"varchar"}' }, '/types/code'],
  [{ missing: '[1]' }, '/missing/0'],
  [{ missing: Array(101).fill('x').join(',') }, '/missing'],
  [{ sourceKind: 'ndjson', missing: '-999' }, '/missing'],
  [{ headerRow: '0' }, '/headerRow'],
  [{ sourceKind: 'ndjson', headerRow: '2' }, '/headerRow'],
  [{ leaveOut: 'plot' }, '/leaveOut'],
  [{ leaveOut: '[1]' }, '/leaveOut/0'],
  [{ unitsRow: 'no' }, '/unitsRow'],
  [{ sourceKind: 'ndjson', unitsRow: 'true' }, '/unitsRow'],
  [{ encoding: 'latin1' }, '/encoding'],
  [{ sourceKind: 'ndjson', encoding: 'windows-1252' }, '/encoding'],
  [{ sourceKind: 'xlsx', encoding: 'windows-1252' }, '/encoding'],
])('fields that mean nothing are refused: %j', async (fields, at) => {
  const { status, body } = await send('refused', 'a\n1\n', fields);
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'INVALID_INPUT', errors: [{ path: at }] });
});

test('a row of units is named in the report and is no row, unless the upload says that it is data', async () => {
  const csv = 'plot,height\n,cm\n1,12.5\n2,13\n';
  const found = await send('with_units', csv);
  expect(found.body).toMatchObject({ rowsIn: 2, rowCount: 2 });
  expect(found.columns.map(({ type, unit }) => [type, unit])).toEqual([
    ['INT', undefined],
    ['DOUBLE', 'cm'],
  ]);
  expect(await rowsOf('with_units', { columns: 'plot,height' })).toEqual([
    { plot: 1, height: 12.5 },
    { plot: 2, height: 13 },
  ]);
  expect((await send('with_words', csv, { unitsRow: 'false' })).body).toMatchObject({ rowsIn: 3, rowCount: 3 });
});

test('a title above the header is told in the report, and the upload can say which row is the header', async () => {
  const titled = await send('titled', 'Trial 2026\n\nplot,height\n1,12.5\n');
  expect(titled.body.files[0].message).toBe('The header is in line 3. Above it stands “Trial 2026”.');
  expect(await rowsOf('titled', { columns: 'plot,height' })).toEqual([{ plot: 1, height: 12.5 }]);
  const told = await send('told_header', 'Operator,Anna\nplot,height\n1,12.5\n', { headerRow: '2' });
  expect(told.columns.map(({ name }) => name)).toEqual(['plot', 'height']);
});

test.each([
  ['csv', 'plot,note,,note,height\n1,a,x,b,12.5\n'],
  ['tsv', 'plot\tnote\t\tnote\theight\n1\ta\tx\tb\t12.5\n'],
])('columns of a %s file are left out, and the others keep their names', async (sourceKind, bytes) => {
  const leaveOut = JSON.stringify(['note', 'column_3', 'plots']);
  const { columns, body } = await send(`left_${sourceKind}`, bytes, { sourceKind, leaveOut });
  expect(columns.map(({ name }) => name)).toEqual(['plot', 'note_2', 'height']);
  expect(body.files[0].message).toBe("Left out: 'note', 'column_3'. The file has no column 'plots', which leaveOut names.");
  expect(await rowsOf(`left_${sourceKind}`, { columns: 'plot,note_2,height' })).toEqual([{ plot: 1, note_2: 'b', height: 12.5 }]);
});

test.each([
  ['json', '[{"plot":1,"note":{"a":1},"height":12.5}]'],
  ['ndjson', '{"plot":1,"note":12345678901234567890123,"height":12.5}\n'],
])('columns of a %s file are left out', async (sourceKind, bytes) => {
  const { columns, body } = await send(`left_${sourceKind}`, bytes, { sourceKind, leaveOut: '["note"]' });
  expect([columns.map(({ name }) => name), body.files[0].message]).toEqual([['plot', 'height'], "Left out: 'note'."]);
  expect(await rowsOf(`left_${sourceKind}`, { columns: 'plot,height' })).toEqual([{ plot: 1, height: 12.5 }]);
});

test('of a file at least one column is stored', async () => {
  const failed = await send('none_left', 'plot\n1\n', { leaveOut: '["plot"]' });
  expect(failed.body).toMatchObject({ status: 'failed', files: [{ reason: 'nothing_left' }] });
  expect((await send('one_left', 'plot\n1\n', { leaveOut: '["note"]' })).body).toMatchObject({ status: 'completed', rowCount: 1 });
});

test('a heading keeps its name beside headings that repeat, which get other numbers', async () => {
  await send('repeated', 'plot,a,a,a_2,A\n1,10,20,30,40\n');
  const columns = 'plot,a,a_2,a_3,A_4';
  expect(await rowsOf('repeated', { columns })).toEqual([{ plot: 1, a: 10, a_2: 30, a_3: 20, A_4: 40 }]);
  const tables = (await owner('GET', `/api/v1/experiments/${experimentId}/tables`)).body;
  const { identifier } = tables.find(({ displayName }: { displayName: string }) => displayName === 'repeated');
  await send('repeated', 'a_2,A,plot,a,a\n300,400,2,100,200\n', { targetKind: 'existing', uploadTableId: identifier });
  expect((await rowsOf('repeated', { columns }))[1]).toEqual({ plot: 2, a: 100, a_2: 300, a_3: 200, A_4: 400 });
});
